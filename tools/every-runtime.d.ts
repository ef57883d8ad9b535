/** What every runtime Wakeful runs in offers beside ECMAScript. The pure modules may use this and nothing else. */
declare class AbortSignal {
  static any(signals: readonly AbortSignal[]): AbortSignal
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}
declare class AbortController {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
}
declare function btoa(text: string): string
declare function atob(text: string): string
declare class URL {
  static canParse(url: string): boolean
  readonly href: string
  readonly origin: string
  readonly protocol: string
  readonly hostname: string
  readonly port: string
  readonly pathname: string
  readonly search: string
  readonly username: string
  readonly password: string
  constructor(url: string)
}
