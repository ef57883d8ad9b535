import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SseReader } from './sse.ts'

const all = (...pieces: string[]): string[] => {
  const reader = new SseReader()
  return pieces.flatMap((piece) => reader.push(piece))
}

describe('reading server-sent events', () => {
  it('reads the data of events with and without an id and a type', () => {
    expect(all('id: 7\nevent: tick\ndata: {"a":1}\n\ndata: next\n\n')).toEqual(['{"a":1}', 'next'])
  })

  it('joins lines of data, and removes one leading space of each', () => {
    expect(all('data:a\ndata:  b\ndata\n\n')).toEqual(['a\n b\n'])
  })

  it('skips comments, unknown fields, and events without data', () => {
    expect(all(': alive\n\nid: 3\n\nflavour: mint\ndata: x\n\n')).toEqual(['x'])
  })

  it('returns no incomplete event', () => {
    expect(all('data: half\n')).toEqual([])
    expect(all('data: half')).toEqual([])
  })

  it('accepts any line ending, a byte order mark and `retry`', () => {
    const reader = new SseReader()
    expect(reader.push('\ufeffretry: 1500\r\ndata: a\rdata: b\r\n\r\n')).toEqual(['a\nb'])
    expect(reader.retryMs).toBe(1500)
  })

  it('ignores a `retry` that is no number', () => {
    const reader = new SseReader()
    reader.push('retry: soon\n')
    expect(reader.push('data: x\n\n')).toEqual(['x'])
    expect(reader.retryMs).toBeNull()
  })

  it('reads the same events wherever the text is cut', () => {
    const text = 'id: 1\r\ndata: {"é":"\u{1f600}"}\r\n\r\n:ping\n\nid: 2\rdata: b\rdata: c\r\rdata: d\n\n'
    const whole = all(text)
    expect(whole).toHaveLength(3)
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), text.length]
        const pieces = places.slice(1).map((end, index) => text.slice(places[index], end))
        expect(all(...pieces)).toEqual(whole)
      }),
    )
  })
})
