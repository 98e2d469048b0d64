import { expect, test } from 'vitest'
import { defineMessages, describeMessage } from './messages.ts'

const texts = defineMessages('test', {
  lost: 'The thing {name} (a.b) is lost: {reason}',
  plain: 'Nothing at all.',
  twice: '{name} is not {name}.',
})

test('makes texts from templates, and finds their codes and values', () => {
  const text = texts.lost({ name: 'x', reason: 'line 1\nline 2.' })
  expect(text).toBe('The thing x (a.b) is lost: line 1\nline 2.')
  expect(describeMessage(text)).toEqual({ code: 'test.lost', params: { name: 'x', reason: 'line 1\nline 2.' } })
  expect(describeMessage(texts.twice({ name: 'a' }))).toEqual({ code: 'test.twice', params: { name: 'a' } })
  expect(describeMessage(texts.plain())).toEqual({ code: 'test.plain', params: {} })
})

test.each(['The thing x (aXb) is lost: y', 'Nothing at all. Really.', 'Nothing at all', 'a is not b.', ''])(
  'has no code for %j',
  (text) => {
    expect(describeMessage(text)).toBeNull()
  },
)

test('keeps placeholders of values as they are', () => {
  expect(texts.lost({ name: '{reason}', reason: '$&' })).toBe('The thing {reason} (a.b) is lost: $&')
})

test('takes time in proportion to the length of a text', () => {
  const many = defineMessages('many', { parts: 'Many {a} of {b} of {c} of {d}!' })
  // A regular expression would try all ways to split it, and not end.
  expect(describeMessage(`Many ${'a of '.repeat(100_000)}`)).toBeNull()
  expect(describeMessage(many.parts({ a: 'x', b: 'y', c: 'z', d: '1 of 2' }))?.params).toEqual({
    a: 'x',
    b: 'y',
    c: 'z',
    d: '1 of 2',
  })
})
