import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { stepText } from './step-text.ts'

const WORKER = path.join(import.meta.dirname, '../../../../worker/src/slurm/operations/steps')

test('every step of the worker has a text', () => {
  const sources = fs.readdirSync(WORKER).map((file) => fs.readFileSync(path.join(WORKER, file), 'utf8'))
  const names = sources.flatMap((source) => [...source.matchAll(/^\s+name: '([^']+)',$/gm)].map(([, name]) => name!))
  expect(names.length).toBeGreaterThan(10)
  expect(names.filter((name) => stepText(name) === name)).toEqual([])
})

test('an unknown step keeps its name', () => {
  expect(stepText('of another version')).toBe('of another version')
})
