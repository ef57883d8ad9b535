import { resolved, type Schema } from './document.ts'

/** How a value differs from its schema; empty if it conforms. Undeclared fields are reported too. */
export function deviations(declared: Schema, value: unknown, at = '$'): string[] {
  const schema = resolved(declared)
  if (schema.anyOf !== undefined) {
    const all = schema.anyOf.map((each) => deviations(each, value, at))
    return all.some((each) => each.length === 0) ? [] : all.sort((a, b) => a.length - b.length)[0]!
  }
  if (schema.const !== undefined && value !== schema.const)
    return [`${at} is not ${JSON.stringify(schema.const)}`]
  if (schema.enum !== undefined && !schema.enum.includes(value))
    return [`${at} is not one of ${JSON.stringify(schema.enum)}: ${display(value)}`]
  const types = typeof schema.type === 'string' ? [schema.type] : schema.type
  if (types !== undefined && !types.some((type) => isOf(type, value)))
    return [`${at} is no ${types.join(' or ')}: ${display(value)}`]
  if (typeof value === 'string') return inText(schema, value, at)
  if (typeof value === 'number') return inNumber(schema, value, at)
  if (Array.isArray(value))
    return schema.items === undefined
      ? []
      : value.flatMap((each, n) => deviations(schema.items!, each, `${at}[${n}]`))
  return typeof value === 'object' && value !== null ? inFields(schema, value, at) : []
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return type === 'integer' ? Number.isSafeInteger(value) : typeof value === type
}

function inText({ pattern, maxLength, minLength }: Schema, value: string, at: string): string[] {
  const isRight =
    (pattern === undefined || new RegExp(pattern).test(value)) &&
    value.length >= (minLength ?? 0) &&
    value.length <= (maxLength ?? Infinity)
  return isRight ? [] : [`${at} does not match its format: ${display(value)}`]
}

function inNumber({ minimum, maximum }: Schema, value: number, at: string): string[] {
  return value < (minimum ?? -Infinity) || value > (maximum ?? Infinity) ? [`${at} is out of range`] : []
}

function inFields({ properties, required = [], additionalProperties }: Schema, value: object, at: string) {
  const wrong = required
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => `${at}.${name} is missing`)
  for (const [name, field] of Object.entries(value)) {
    const declared =
      properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
    const schema = declared ?? additionalProperties
    if (schema === false) wrong.push(`${at}.${name} is not declared`)
    else if (typeof schema === 'object') wrong.push(...deviations(schema, field, `${at}.${name}`))
  }
  return wrong
}

function display(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 120)
}
