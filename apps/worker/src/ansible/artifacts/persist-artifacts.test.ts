import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { addNode } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import { cancelJobRun } from '@muster/core/runs'
import { eq } from 'drizzle-orm'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createRunFixture, type RunFixture, realAnsible } from '../../testing/run-fixture.ts'
import { collectFiles } from './collect-files.ts'

const FAKE = fileURLToPath(new URL('../../testing/fake-ansible-playbook.mjs', import.meta.url))

let fixture: RunFixture | undefined
afterEach(async () => {
  await fixture?.close()
  fixture = undefined
})

const artifactsOf = (id: string) =>
  fixture!.runtime.db
    .select()
    .from(schema.jobArtifacts)
    .where(eq(schema.jobArtifacts.jobRunId, id))
    .orderBy(schema.jobArtifacts.path)

test('stores the log and the regular files of the artifact directory', async () => {
  fixture = await createRunFixture({ ANSIBLE_PLAYBOOK: realAnsible() })
  const name = await fixture.template(
    'leave',
    `
- hosts: all
  gather_facts: false
  tasks:
    - name: Leave files
      ansible.builtin.shell: |
        mkdir -p out && printf 'all is well' > out/report.txt
        ln -s /etc/passwd secrets && ln -s /etc linked
        mkfifo pipe
        head -c 2000000 /dev/zero > huge
      args:
        chdir: "{{ muster_artifact_dir }}"
`,
  )
  const node = await addNode(fixture.admin, { name: 'here', host: 'localhost', connectionType: 'local' })
  const { id, done } = await fixture.start({ template: name, nodeIds: [node.id] })
  const { run, log } = await done
  expect(run.status).toBe('SUCCEEDED')
  const kept = await artifactsOf(id)
  expect(kept.map(({ kind, path, size }) => ({ kind, path, size }))).toEqual([
    { kind: 'log', path: 'log.txt', size: expect.any(Number) },
    { kind: 'file', path: 'out/report.txt', size: 11 },
  ])
  expect(kept[1]!.sha256).toBe(createHash('sha256').update('all is well').digest('hex'))
  expect(await text(await fixture.store.open(kept[1]!.key))).toBe('all is well')
  expect(await text(await fixture.store.open(kept[0]!.key))).toBe(`${log.replace(/\u001b\[[0-9;]*m/g, '')}\n`)
  expect(log).toMatch(
    /Not stored as artifacts: huge \(2000000 bytes.*linked \(not a file\), pipe \(not a file\), secrets \(not a file\)/,
  )
})

test('collects no file outside the artifact directory and limits count and size', async () => {
  const root = await mkdtemp(join(tmpdir(), 'muster-files-'))
  const from = join(root, 'artifacts')
  await mkdir(join(from, 'a/b'), { recursive: true })
  await writeFile(join(root, 'outside'), 'outside')
  await symlink(join(root, 'outside'), join(from, 'link'))
  await symlink(root, join(from, 'a/up'))
  await writeFile(join(from, 'a/b/empty'), '')
  await Promise.all(Array.from({ length: 1001 }, (_, i) => writeFile(join(from, `f${String(i).padStart(4, '0')}`), `${i}`)))
  const { files, skipped } = await collectFiles(from, join(root, 'kept'), 1_000_000)
  expect(files).toHaveLength(1000)
  expect(files.slice(0, 2)).toMatchObject([
    { path: 'a/b/empty', size: 0 },
    { path: 'f0000', size: 1 },
  ])
  expect(skipped).toEqual([
    'a/up (not a file)',
    expect.stringContaining('f0999'),
    expect.stringContaining('f1000'),
    'link (not a file)',
  ])
  expect((await readdir(join(root, 'kept'))).length).toBe(1000)
  expect(await readFile(files[1]!.file, 'utf8')).toBe('0')
  await rm(root, { recursive: true })
})

describe('while the store is unavailable', () => {
  async function prepared() {
    fixture = await createRunFixture({ ANSIBLE_PLAYBOOK: FAKE, JOB_CANCEL_GRACE_PERIOD: 1 })
    const { id } = await fixture.given.credential(fixture.admin, 'SSH_KEY')
    await fixture.given.fleet(fixture.admin, { with: { credentialId: id } })
    const store = vi.spyOn(fixture.store, 'put')
    return { store, name: await fixture.template('look', '') }
  }

  test('a successful run stays RUNNING until the store is available', async () => {
    const { store, name } = await prepared()
    store.mockRejectedValueOnce(new Error('The store is away.'))
    const { id, done } = await fixture!.start({ template: name, limit: 'all' })
    await expect.poll(() => store.mock.calls.length).toBe(1)
    expect((await fixture!.read(id)).run.status).toBe('RUNNING')
    expect((await done).run.status).toBe('SUCCEEDED')
    expect(await artifactsOf(id)).toMatchObject([{ kind: 'log' }])
  })

  test('a successful run without a stored log ends as ERROR with the next step', async () => {
    const { store, name } = await prepared()
    store.mockRejectedValue(new Error('The directory is full.'))
    fixture!.storeRetryForMs = 0
    const { id, done } = await fixture!.start({ template: name, limit: 'all' })
    const { run } = await done
    expect(run).toMatchObject({ status: 'ERROR', exitCode: 0, error: expect.stringContaining('The directory is full.') })
    expect(run.error).toContain('Check the artifact store')
    expect(await artifactsOf(id)).toEqual([])
  })

  test('a cancel ends the retries', async () => {
    const { store, name } = await prepared()
    store.mockRejectedValue(new Error('away'))
    const { id, done } = await fixture!.start({ template: name, limit: 'all' })
    await expect.poll(() => store.mock.calls.length).toBe(1)
    await cancelJobRun(fixture!.operator, { id })
    expect((await done).run).toMatchObject({ status: 'ERROR' })
    expect(store.mock.calls.length).toBeLessThan(10)
  })
})
