import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { claimJobRun } from '@muster/core/run-queue'
import { runJob } from '@muster/core/runs'
import { createJobTemplate, uploadPlaybookBundle } from '@muster/core/templates'
import { type ArchiveEntry, tarGz } from '@muster/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveGit } from '../../testing/git-server.ts'
import { createOnboardedLab, type OnboardedLab } from '../../testing/onboarded-lab.ts'
import { executeRun } from '../execute-run.ts'

let fixture: OnboardedLab
let dir: string
let node: string
beforeAll(async () => {
  fixture = await createOnboardedLab()
  dir = await mkdtemp(join(tmpdir(), 'muster-sources-'))
  node = fixture.lab.nodes.find((each) => !each.behindBastion)!.name
})
afterAll(async () => {
  await fixture?.close()
  await rm(dir, { recursive: true, force: true })
})

const SITE = `
- hosts: all
  gather_facts: false
  roles: [greet]
  tasks:
    - debug: { msg: "seen {{ level | default('nothing') }}, the key has {{ key | default('') | length }} letters" }
    - copy: { content: "{{ key | default('') }}", dest: "/tmp/of-{{ greeting }}" }
      no_log: true
`
// The playbook is not in the folder of its roles. Its group_vars and ansible.cfg must be ignored.
const PROJECT: ArchiveEntry[] = [
  { path: 'plays/site.yml', text: SITE },
  {
    path: 'roles/greet/tasks/main.yml',
    text: '- command: "{{ role_path }}/../../nothing.sh"\n  when: false\n- debug: { msg: "hello from {{ greeting }}" }\n',
  },
  { path: 'roles/greet/defaults/main.yml', text: 'greeting: a-role\n' },
  { path: 'plays/group_vars/all.yml', text: 'level: group_vars\n' },
  { path: 'ansible.cfg', text: '[defaults]\nstdout_callback = minimal\nroles_path = /nowhere\n' },
  { path: 'plays/ansible.cfg', text: '[defaults]\nstdout_callback = minimal\n' },
]

test('runs a bundle with roles and exposes its secret only to the node', async () => {
  const bundle = await uploadPlaybookBundle(fixture.admin, { name: 'project.tgz', content: tarGz(PROJECT) })
  await createJobTemplate(fixture.admin, {
    name: 'from_bundle',
    source: 'bundle',
    bundleId: bundle.id,
    playbookPath: 'plays/site.yml',
    inputSchema: {
      type: 'object',
      properties: { key: { type: 'string', 'x-secret': true }, level: { type: 'integer', default: 7 } },
    },
  })
  const { done } = await fixture.start({
    template: 'from_bundle',
    limit: node,
    extraVars: { key: 'swordfish of the deep', greeting: 'a-bundle' },
    diffMode: true,
    verbosity: 2,
  })
  const { run, log, events } = await done
  expect([run.status, run.error]).toEqual(['SUCCEEDED', null])
  expect(log).toContain('hello from a-bundle')
  expect(log).toContain('seen 7, the key has 21 letters')
  expect(JSON.stringify([run, events])).not.toContain('swordfish')
  const read = '- hosts: all\n  gather_facts: false\n  tasks:\n    - command: cat /tmp/of-a-bundle\n'
  const { log: there } = await (
    await fixture.start({ template: await fixture.template('read', read), limit: node, verbosity: 1 })
  ).done
  expect(there).toContain('swordfish of the deep')
})

test('uses the commit of the branch at the start of the run', async () => {
  const server = await serveGit(dir, null)
  const repository = join(dir, 'repository')
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.test', ...args], { cwd: repository, encoding: 'utf8' }).trim()
  for (const { path, text } of PROJECT) {
    await mkdir(dirname(join(repository, path)), { recursive: true })
    await writeFile(join(repository, path), text!)
  }
  git('init', '--quiet', '--initial-branch=main')
  git('add', '.')
  git('commit', '--quiet', '-m', 'project')
  const template = await fixture.template('from_git', '', {
    source: 'git',
    gitUrl: `${server.url}/repository`,
    gitRef: 'main',
    playbookPath: 'plays/site.yml',
  })
  const rejected = await (await fixture.start({ template, limit: node })).done
  expect(rejected.run).toMatchObject({
    status: 'ERROR',
    error: expect.stringContaining("transport 'http' not allowed"),
    gitCommit: null,
  })
  expect(rejected.hosts).toMatchObject([{ result: 'NOT_RUN' }])

  const { id } = await runJob(fixture.operator, { template, limit: node })
  const claim = await claimJobRun(fixture.worker, { id, workerId: 'worker-1' })
  const { config, store, listener, isolation, stopping } = fixture
  await executeRun(
    { config, store, listener, isolation, stopping: stopping.signal, gitProtocols: ['http'] },
    fixture.worker,
    claim!,
  )
  const { run, log } = await fixture.read(id)
  expect([run.status, run.error, run.gitCommit]).toEqual(['SUCCEEDED', null, git('rev-parse', 'HEAD')])
  expect(log).toContain('seen nothing, the key has 0 letters')
  await server.close()
})

test('does not run a playbook outside its folder', async () => {
  const template = await fixture.template('out', '', { playbookPath: '../../etc/hosts.yml' })
  const { run, log } = await (await fixture.start({ template, limit: node })).done
  expect(run).toMatchObject({
    status: 'ERROR',
    error: 'The path of the playbook, "../../etc/hosts.yml", must not contain ...',
  })
  expect(log).toContain('must not contain ..')
})
