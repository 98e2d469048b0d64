import { expect, test } from 'vitest'
import { z } from 'zod'
import { type InvalidInput, parseInput } from './errors.ts'

const Schema = z.strictObject({
  forks: z.number().max(500),
  name: z.string().min(2),
  ids: z.array(z.string()).max(1),
  kind: z.string(),
  own: z.number().max(1, 'may be one at the most'),
})

test('reports one readable issue per invalid field', () => {
  const rejected = (() => {
    try {
      return parseInput(Schema, { forks: 501, name: 'x', ids: ['a', 'b'], own: 2, odd: 1 })
    } catch (error) {
      return (error as InvalidInput).issues
    }
  })()
  expect(rejected).toEqual([
    { path: 'forks', message: 'must be at most 500' },
    { path: 'name', message: 'must be at least 2 characters' },
    { path: 'ids', message: 'must be at most 1 entries' },
    { path: 'kind', message: 'is missing' },
    { path: 'own', message: 'may be one at the most' },
    { path: '', message: 'has unknown fields: odd' },
  ])
})
