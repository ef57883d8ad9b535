/** JSON that comes back as it was given. Small, pure and free of everything else, so that browsers can have it, too. */
export { jsonText, RawJson, rawJson } from './raw-json.ts'
export { readJson, type Verbatim } from './read-json.ts'
