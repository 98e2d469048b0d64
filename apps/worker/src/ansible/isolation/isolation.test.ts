import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { schema } from '@muster/core/registry'
import { cancelJobRun, runJob } from '@muster/core/runs'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { createIsolation, createVisiblePaths } from '../../testing/isolation.ts'
import { createRunFixture, type RunFixture, realAnsible } from '../../testing/run-fixture.ts'
import { spawnRunWorker } from '../../testing/spawn-run-worker.ts'
import { createFakeAnsible } from '../../testing/spawn-worker.ts'
import { findProcesses } from '../process/processes.ts'
import { createRunDirectory, removeAbandonedRuns } from '../run-directory/run-directory.ts'
import type { RunDirectory } from '../run-directory/run-paths.ts'
import { asUser, type Isolation, bubblewrap as inBubblewrap, noIsolation, noSandbox } from './isolation.ts'
import { createUserPool, readRunAccounts } from './run-accounts.ts'
import { spawnIsolated } from './spawn-isolated.ts'

const isRoot = process.getuid?.() === 0

let fixture: RunFixture
let bubblewrap: Isolation
/** As chosen by a worker that is not root. */
let sameUser: Isolation
let files: string
let other: RunDirectory
let node: string
beforeAll(async () => {
  fixture = await createRunFixture({ ANSIBLE_PLAYBOOK: realAnsible(), JOB_CANCEL_GRACE_PERIOD: 1 })
  const { id: credentialId } = await fixture.given.credential(fixture.admin, 'SSH_KEY')
  node = (await fixture.given.fleet(fixture.admin, { nodes: 1, with: { credentialId } }))[0]!.name
  const root = join(fixture.config.ANSIBLE_WORK_DIR, '..')
  files = join(root, 'files')
  await mkdir(files)
  for (const name of ['data', 'offline', 'password']) await writeFile(name === 'data' ? join(root, name) : join(files, name), 'x')
  bubblewrap = await createIsolation(fixture.config, 'auto', { folder: files, password: join(files, 'password') })
  sameUser = inBubblewrap(await createVisiblePaths(fixture.config), { isRoot: false })
  other = await createRunDirectory(fixture.config.ANSIBLE_WORK_DIR, 'other1', bubblewrap.user())
})
afterEach(() => {
  fixture.isolation = noIsolation(null)
})
afterAll(async () => {
  await other.remove()
  await fixture.close()
})

/** A playbook that runs a shell script on the worker's machine. */
const playbook = (script: string) =>
  JSON.stringify([
    { hosts: 'localhost', connection: 'local', gather_facts: false, tasks: [{ name: 'Try', 'ansible.builtin.shell': script }] },
  ])

test('bubblewrap blocks access to the worker that is possible without isolation', async (ctx) => {
  if (bubblewrap.mode !== 'bubblewrap') ctx.skip(`${bubblewrap.weakness}`)
  const root = join(fixture.config.ANSIBLE_WORK_DIR, '..')
  const attempts = {
    'read the environment of the worker': `cat /proc/${process.pid}/environ`,
    'list open files of the worker': `ls /proc/${process.pid}/fd`,
    'read data of the product': `cat ${root}/data`,
    'read the master password': `cat ${files}/password`,
    'see files of services in /etc': '[ -e /etc/shadow ] || [ -e /etc/fstab ]',
    'see other runs': `ls ${other.dir}`,
    'list runs': `[ "$(ls ${fixture.config.ANSIBLE_WORK_DIR} | wc -l)" -gt 1 ]`,
    'write into another run': `touch ${other.dir}/artifacts/planted`,
    'change playbooks': `touch ${root}/playbooks/planted.yml`,
    'change its own settings': 'echo >> "$ANSIBLE_CONFIG"',
    'change the owner file of its directory': 'echo >> "$(dirname "$ANSIBLE_CONFIG")/owner.json"',
    'fill the disk with one file':
      'truncate -s 20G "$TMPDIR/big"; [ -e "$TMPDIR/big" ] && [ "$(stat -c %s "$TMPDIR/big")" -gt 0 ]',
    'exceed the limit of open files': 'ulimit -n 20000',
    'signal the worker': `kill -0 ${process.pid}`,
    'see the worker': `[ -e /proc/${process.pid} ]`,
    'dump its memory': 'ulimit -c unlimited',
    'exceed the limit of processes': 'prlimit --nproc=8193:8193 true',
    ...(isRoot ? { 'signal the worker': `kill -0 ${process.pid}`, 'be root': '[ "$(id -u)" = 0 ]' } : {}),
  }
  const script = Object.entries(attempts).map(([what, how]) => `if ( ${how} ) >/dev/null 2>&1; then echo "did: ${what}"; fi`)
  const allowed = `cat ${files}/offline; echo kept > "$(dirname "$ANSIBLE_CONFIG")/artifacts/kept"; touch /tmp/a /dev/shm/b`
  const template = await fixture.template('try', playbook(`${script.join('\n')}\nset -e\n${allowed}`))
  const tried = async (isolation: Isolation) => {
    fixture.isolation = isolation
    const { run, events } = await (await fixture.start({ template, limit: node })).done
    expect([run.status, run.error]).toEqual(['SUCCEEDED', null])
    const artifacts = await fixture.runtime.db.select().from(schema.jobArtifacts).where(eq(schema.jobArtifacts.jobRunId, run.id))
    expect(artifacts.map(({ path }) => path).sort()).toEqual(['kept', 'log.txt'])
    const { stdout_lines: lines } = events.find((event) => event.kind === 'ok')!.result as { stdout_lines: string[] }
    return lines.filter((line) => line.startsWith('did: '))
  }
  expect(await tried(bubblewrap)).toEqual([])
  // Without a sandbox, this shipped playbook runs as without isolation.
  if (isRoot) expect(await tried(noSandbox('no bwrap'))).toEqual(Object.keys(attempts).map((what) => `did: ${what}`))
  expect(await readdir(fixture.config.ANSIBLE_WORK_DIR)).toEqual([other.dir.split('/').at(-1)])
})

test.for([
  ['exit', 'its own user'],
  ['cancel', 'its own user'],
  ['exit', 'the user of the worker'],
  ['cancel', 'the user of the worker'],
  ['the end of its worker', 'the user of the worker'],
] as const)('leaves no process of an isolated run after %s, as %s', async ([by, user], ctx) => {
  if (bubblewrap.mode !== 'bubblewrap') ctx.skip(`${bubblewrap.weakness}`)
  fixture.isolation = user === 'its own user' ? bubblewrap : sameUser
  // The durations identify the processes on this machine.
  const [away, here] = [`4711.${process.pid}${by.length}${user.length}`, `4712.${process.pid}${by.length}${user.length}`]
  // A process in its own session and without the environment of the run, which ignores signals.
  const stray = `setsid env -i sh -c "trap '' INT TERM; sleep ${away}; :" >/dev/null 2>&1 &`
  const text = playbook(`${stray} ${by === 'exit' ? 'true' : `sleep ${here}`}`)
  const template = await fixture.template(`leave_${by}_${user}`.replaceAll(' ', '_'), text)
  const isStarted = () => expect.poll(async () => (await findProcesses(away)).length, { timeout: 30_000 }).toBeGreaterThan(0)
  if (by === 'the end of its worker') {
    const { id } = await runJob(fixture.operator, { template, limit: node })
    const killed = await spawnRunWorker(fixture, id)
    await isStarted()
    await killed.kill()
    await removeAbandonedRuns(fixture.config.ANSIBLE_WORK_DIR, fixture.runtime.log, fixture.isolation)
  } else {
    const { id, done } = await fixture.start({ template, limit: node })
    if (by === 'cancel') {
      await isStarted()
      await cancelJobRun(fixture.operator, { id })
    }
    const { run } = await done
    expect(run.status).toBe({ cancel: 'CANCELED', exit: 'SUCCEEDED' }[by])
    expect(await findProcesses(`run-${id.slice(-6)}`)).toEqual([])
  }
  expect(await findProcesses(away)).toEqual([])
  expect(await findProcesses(here)).toEqual([])
})

test('rejects local nodes in isolated runs', async (ctx) => {
  if (bubblewrap.mode === 'none') ctx.skip(`${bubblewrap.weakness}`)
  fixture.isolation = bubblewrap
  const template = await fixture.template('idle', playbook('true'))
  const { tenant, runtime } = fixture
  const here = { tenantId: tenant.id, name: 'here', host: 'localhost', connectionType: 'local' as const, readyAt: new Date() }
  await runtime.db.insert(schema.computeNodes).values(here)
  const { hosts } = await (await fixture.start({ template, limit: 'here' })).done
  expect(hosts).toMatchObject([{ result: 'UNREACHABLE', message: expect.stringContaining('ANSIBLE_ISOLATION=none') }])
})

test.skipIf(!isRoot)('with isolation by user only, a run reads its files and cannot change them', async () => {
  const workDir = await mkdtemp(join(tmpdir(), 'muster-uid-'))
  await chmod(workDir, 0o711)
  const isolation = asUser(createUserPool([{ uid: 65534, gid: 65534 }]))
  const directory = await createRunDirectory(workDir, 'asuser', isolation.user())
  const { dir, marker } = directory
  try {
    await writeFile(join(dir, 'inventory.yml'), 'given', { mode: 0o600 })
    await mkdir(join(dir, 'project'), { mode: 0o700 })
    await writeFile(join(dir, 'project', 'site.yml'), 'played', { mode: 0o600 })
    const script = `id -u; cat inventory.yml project/site.yml; touch artifacts/a tmp/b && echo; ls ${workDir}; touch new project/new; echo >> owner.json
      cat /proc/${process.pid}/environ; grep NoNewPrivs /proc/self/status; ulimit -c`
    const env = { PATH: process.env.PATH, MUSTER_RUN: marker }
    const { program } = await spawnIsolated(['sh', '-c', script], dir, {
      isolation,
      wrapCommand: await isolation.prepare(directory),
      env,
    })
    // Reads immediately, because unread output is lost when the process exits.
    const [stdout, stderr] = await Promise.all([text(program.outputs[0]!), text(program.outputs[1]!)])
    expect(stdout).toBe('65534\ngivenplayed\nNoNewPrivs:\t1\n0\n')
    expect(stderr.match(/Permission denied/g)).toHaveLength(5)
  } finally {
    await directory.remove()
    await rm(workDir, { recursive: true })
  }
})

test('bubblewrap works with a restrictive umask', async (ctx) => {
  if (bubblewrap.mode !== 'bubblewrap') ctx.skip(`${bubblewrap.weakness}`)
  const before = process.umask(0o077)
  try {
    expect(await createIsolation(fixture.config, 'bubblewrap')).toMatchObject({ mode: 'bubblewrap' })
  } finally {
    process.umask(before)
  }
})

test('concurrent runs have different users, and a user is reused after its run', () => {
  const users = [61_000, 61_001].map((uid) => ({ uid, gid: uid }))
  const isolation = asUser(createUserPool(users))
  const first = isolation.user()
  expect([first, isolation.user()]).toEqual(users)
  expect(() => isolation.user()).toThrow(/ISOLATION_UID_RANGE/)
  isolation.release(first)
  expect(isolation.user()).toEqual(first)
})

test.skipIf(!isRoot)('isolation by user needs an account with a group of its own for each concurrent run', async () => {
  const accounts = 'root:x:0:0::/:/bin/sh\na:x:61000:61000::/:/bin/sh\nb:x:61001:61001::/:/bin/sh\nc:x:61002:61001::/:/bin/sh\n'
  expect(await readRunAccounts([61_000, 61_000], 1, accounts)).toEqual([{ uid: 61_000, gid: 61_000 }])
  await expect(readRunAccounts([61_000, 61_001], 1, accounts)).rejects.toThrow(/61001 .* shares its group/)
  await expect(readRunAccounts([61_002, 61_003], 1, accounts)).rejects.toThrow(/61003 .* has no account.*useradd/)
  await expect(readRunAccounts([61_000, 61_000], 2, accounts)).rejects.toThrow(/has 1 users and JOB_RUNNER_CONCURRENCY is 2/)
  await expect(readRunAccounts(undefined, 1, accounts)).rejects.toThrow(/ISOLATION_UID_RANGE is not set/)
})

test.each(['bundle', 'git'] as const)('without a sandbox, a %s run is rejected before anything of it starts', async (source) => {
  const started = join(fixture.config.ANSIBLE_WORK_DIR, '..', `started by ${source}`)
  const text = playbook(`touch '${started}'`)
  const columns = { gitUrl: 'https://git.test/a', gitRef: 'main' }
  const template = await fixture.template(`of_${source}`, text, source === 'git' ? { source, ...columns } : { source })
  fixture.isolation = noSandbox('bubblewrap cannot be used: there is no bwrap')
  const { run, log } = await (await fixture.start({ template, limit: node })).done
  expect(run).toMatchObject({
    status: 'ERROR',
    startedAt: expect.any(Date),
    error: expect.stringMatching(/needs a sandbox.*there is no bwrap.*Install bubblewrap/),
  })
  expect(log).toContain('no sandbox')
  expect(await readdir(join(started, '..'))).not.toContain(`started by ${source}`)
})

test('reports an unusable isolation, and the mode auto never chooses none', async () => {
  const bin = join(fixture.config.ANSIBLE_WORK_DIR, '..', 'bin')
  await mkdir(bin)
  const config = { ...fixture.config, ANSIBLE_PLAYBOOK: await createFakeAnsible('2.19.4', join(bin, 'ansible-playbook')) }
  vi.stubEnv('PATH', bin)
  try {
    await expect(createIsolation(config, 'bubblewrap')).rejects.toThrow(
      /ANSIBLE_ISOLATION=bubblewrap cannot be used: .*install.*auto/,
    )
    expect(await createIsolation(config, 'none')).toMatchObject({ mode: 'none' })
    expect(await createIsolation(config, 'auto')).toMatchObject({
      mode: 'unavailable',
      weakness: expect.stringMatching(/bubblewrap.*; uid/s),
    })
  } finally {
    vi.unstubAllEnvs()
  }
})
