import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { addVars } from './run.ts'

it('parses extra vars as ansible-playbook does; later values win', () => {
  const dir = mkdtempSync(join(tmpdir(), 'muster-vars-'))
  try {
    writeFileSync(join(dir, 'v.yml'), 'a: [1, 2]\nc: yes\ng: y\ne: 0755\n')
    const vars = ['a=1', 'b=x=y z', '{"d": {"e": null}}', 'f: 1.5', `@${join(dir, 'v.yml')}`].reduce<
      Record<string, unknown> | undefined
    >((before, text) => addVars(text, before), undefined)
    expect(vars).toEqual({ a: [1, 2], b: 'x=y z', c: true, d: { e: null }, e: 493, f: 1.5, g: 'y' })
  } finally {
    rmSync(dir, { recursive: true })
  }
})

it('rejects values that are not a mapping and names an unreadable file', () => {
  expect(() => addVars('[1, 2]')).toThrow('must be key=value, or a YAML or JSON mapping')
  expect(() => addVars('just text')).toThrow('must be key=value')
  expect(() => addVars('{a: b: c')).toThrow('is neither YAML nor JSON')
  expect(() => addVars('until: 2026-01-02')).toThrow('2026-01-02 is a date, which JSON does not support; put it in quotes')
  expect(() => addVars('at: 11:22')).toThrow('11:22 is a base-60 number in YAML 1.1; put it in quotes')
  expect(addVars('{gpu: y, all: [yes, off]}')).toEqual({ gpu: 'y', all: [true, false] })
  expect(() => addVars('@/no/such/file')).toThrow('Cannot read /no/such/file: ENOENT')
})
