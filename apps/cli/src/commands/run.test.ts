import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { addVars } from './run.ts'

it('reads extra vars as ansible-playbook does, and later ones win', () => {
  const dir = mkdtempSync(join(tmpdir(), 'muster-vars-'))
  try {
    writeFileSync(join(dir, 'v.yml'), 'a: [1, 2]\nc: yes\n')
    const vars = ['a=1', 'b=x=y z', '{"d": {"e": null}}', 'f: 1.5', `@${join(dir, 'v.yml')}`].reduce<
      Record<string, unknown> | undefined
    >((before, text) => addVars(text, before), undefined)
    expect(vars).toEqual({ a: [1, 2], b: 'x=y z', c: 'yes', d: { e: null }, f: 1.5 })
  } finally {
    rmSync(dir, { recursive: true })
  }
})

it('refuses what is no mapping, and names the file that it cannot read', () => {
  expect(() => addVars('[1, 2]')).toThrow('must be key=value, or a YAML or JSON mapping')
  expect(() => addVars('just text')).toThrow('must be key=value')
  expect(() => addVars('{a: b: c')).toThrow('is neither YAML nor JSON')
  expect(() => addVars('@/no/such/file')).toThrow('Cannot read /no/such/file: ENOENT')
})
