import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { muster as run, startTestApi, type TestApi } from '../../testing/muster.ts'

let t: TestApi
let home: string
beforeAll(async () => {
  t = await startTestApi()
  const { admin } = await t.given.tenant()
  await t.given.fleet(admin, { nodes: 1, with: { connectionType: 'local' } })
  home = mkdtempSync(join(tmpdir(), 'muster-template-'))
  await t.signIn(admin)
})
afterAll(async () => {
  await t?.close()
  rmSync(home, { recursive: true, force: true })
})

const muster = (line: string) => run(line.split(' '))

it('creates a template from a bundle, previews, updates and restores it', async () => {
  writeFileSync(join(home, 'site.yml'), '- hosts: all\n')
  writeFileSync(join(home, 'inputs.yml'), 'type: object\nproperties: {level: {type: string, enum: [low, high], default: low}}\n')
  execFileSync('tar', ['czf', join(home, 'site.tgz'), '-C', home, 'site.yml'])
  const source = `--bundle ${join(home, 'site.tgz')} --playbook site.yml --schema ${join(home, 'inputs.yml')}`
  expect(await muster(`template create site ${source} --serial 1,50% --max-fail-percentage 10 --reason first`)).toMatchObject({
    code: 0,
    err: 'Created site.\n',
  })
  expect((await muster('template get site')).out).toMatch(/^source +bundle site.tgz$/m)
  expect((await muster('templates')).out).toMatch(/^site +custom +bundle /m)

  const shown = await muster('run site -l gpu001 --preview')
  expect(shown).toMatchObject({ code: 0, err: '' })
  expect(shown.out).toMatch(/^ansible-playbook -i inventory.yml .*site.yml\non 1 node: gpu001\n/)
  expect(shown.out).toMatch(/^gpu001 +level +"low" +run$/m)
  expect(JSON.parse((await muster('run site -l gpu001 --preview -o json')).out)).toMatchObject({
    hostCount: 1,
    inventory: { all: { hosts: ['gpu001'] } },
  })
  expect(await muster('run site -l gpu001 -e level=odd')).toMatchObject({
    code: 5,
    err: expect.stringContaining('extraVars.level: must be one of low, high'),
  })

  expect((await muster('template update site --forks 3 --reason more')).err).toContain('version 2')
  await run("template update site --serial '' --max-fail-percentage '' --any-vars --labels disk,_log --become-method su")
  expect(JSON.parse((await muster('template get site -o json')).out)).toMatchObject({
    tags: ['disk', 'log'],
    settings: { serial: null, maxFailPercentage: null, inputSchema: null, becomeMethod: 'SU', forks: 3 },
  })
  expect((await muster('template history site')).out).toMatch(/^3 .*\n2 .* more\n1 .* first$/m)
  expect(await muster('template archive site')).toMatchObject({ code: 0, err: 'Archived site.\n' })
  expect((await muster('templates')).out).not.toMatch(/^site /m)
  expect((await muster('template list --archived')).out).toMatch(/^site /m)
  expect((await muster('run site -l gpu001')).err).toContain('is archived')
  expect((await muster('template restore site --version 1')).err).toContain('version 4')

  const rejected = [
    ['template create site --playbook site.yml', 5, 'already a job template named site'],
    ['template create bad --playbook ../site.yml', 5, 'must not contain ..'],
    ['template create bad --git file:///etc --ref main --playbook x.yml', 5, 'https://host/path'],
    ['template create bad --bundle /nowhere.tgz --playbook x.yml', 2, 'Cannot read /nowhere.tgz'],
    ['template get nope', 4, 'muster template list'],
    ['template archive collect_facts', 5, 'is shipped with Muster'],
  ] as const
  for (const [line, code, reason] of rejected)
    expect(await muster(line)).toMatchObject({ code, err: expect.stringContaining(reason) })
})
