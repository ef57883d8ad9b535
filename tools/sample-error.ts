import { WakefulError } from '../src/error.ts'
import { INTERFACES, type Param, type Params, type ReasonId, reasonOf, render } from '../src/errors/index.ts'

const LISTS: ReadonlySet<string> = new Set([
  'allowed',
  'corrections',
  'fields',
  'forms',
  'kinds',
  'known',
  'methods',
  'names',
  'nicknames',
  'others',
  'units',
  'words',
])

/** An error of a reason with a made-up value for every parameter that its words name. */
export function sampleError(reason: ReasonId, value: (name: string) => Param, field: string): WakefulError {
  const params = paramsOf(reason, value, field)
  const errors =
    reason === 'request.several_errors'
      ? [
          new WakefulError('field.empty', {}, { field }),
          new WakefulError('field.nul_character', {}, { field }),
        ]
      : undefined
  return WakefulError.from({ code: reasonOf(reason)!.code, reason, params, message: '', field, errors })
}

/** The parameters that the words of a reason ask for, in any interface. */
function paramsOf(reason: ReasonId, value: (name: string) => Param, field: string): Params {
  const asked: Record<string, Param> = {}
  const params = new Proxy(asked, {
    get: (_, name) => {
      if (typeof name !== 'string') return undefined
      asked[name] ??= LISTS.has(name) ? [String(value(name))] : value(name)
      return asked[name]
    },
  })
  for (const where of INTERFACES) render({ reason, params, message: '', field }, where)
  return asked
}
