import { expect, it } from 'vitest'
import { cut, oneLine, pad, textWidth, wrap } from './text-width.ts'

it.each([
  ['', 0],
  ['plain', 5],
  ['naïve', 5],
  ['e\u0301', 1],
  ['日本語', 6],
  ['👩‍👩‍👧 ok', 5],
  ['🇮🇹', 2],
])('counts the columns of %j', (text, width) => {
  expect(textWidth(text)).toBe(width)
})

it('cuts to a width, between characters', () => {
  expect(cut('abcdef', 6)).toBe('abcdef')
  expect(cut('abcdef', 4)).toBe('abc…')
  expect(cut('日本語', 4)).toBe('日…')
  expect(cut('abc', 0)).toBe('')
})

it('pads on either side', () => {
  expect(pad('日', 4)).toBe('日  ')
  expect(pad('7', 3, 'right')).toBe('  7')
})

it('escapes control characters', () => {
  expect(oneLine('a\nb\tc\u001B[31mred\u202E')).toBe('a\\nb\\tc\\u{1b}[31mred\\u{202e}')
})

it('wraps at spaces, and never within a word', () => {
  expect(wrap('one two three four', 9, '  ')).toBe('one two\n  three\n  four')
  expect(wrap('a  b', 80, '')).toBe('a  b')
  expect(wrap('    one two', 9, '  ')).toBe('    one\n  two')
  expect(wrap('incomprehensibilities', 5, '  ')).toBe('incomprehensibilities')
  expect(wrap('one two three', null, '')).toBe('one two three')
})
