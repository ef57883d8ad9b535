import { describe, expect, it } from 'vitest'
import { openApi } from './openapi.ts'

const api = openApi('0.0.0') as { components: { schemas: Record<string, { $ref?: string }> } }

describe('the OpenAPI document', () => {
  it('defines every schema it names, and none by itself', () => {
    const { schemas } = api.components
    const named = [...JSON.stringify(api).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name]) => name!,
    )
    expect(named.filter((name) => schemas[name] === undefined)).toEqual([])
    expect(Object.keys(schemas).filter((name) => schemas[name]!.$ref !== undefined)).toEqual([])
  })
})
