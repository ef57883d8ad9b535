/** JSON that comes back as it was given. Small, pure and free of everything else, so that browsers can have it, too. */
export { jsonText, parseExact, RawJson, rawJson, readJson, type Verbatim } from './json.ts'
