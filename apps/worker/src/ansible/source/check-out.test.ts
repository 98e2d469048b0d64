import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { noIsolation } from '../isolation/isolation.ts'
import { checkOutRepository } from './check-out.ts'
import { REPOSITORY_LIMITS } from './confine.ts'

let dir: string
let repository: string
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.test', '-c', 'init.defaultBranch=main', ...args], {
    cwd: repository,
    encoding: 'utf8',
  }).trim()

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-git-'))
  repository = join(dir, 'repository')
  await mkdir(repository)
  git('init', '--quiet')
  await writeFile(join(repository, 'site.yml'), 'first')
  git('add', '.')
  git('commit', '--quiet', '-m', 'first')
})
afterEach(() => rm(dir, { recursive: true, force: true }))

let count = 0
const place = () => ({
  directory: { dir, sshDir: dir, user: null, marker: 'MUSTER_RUN=test', remove: async () => {} },
  isolation: noIsolation(null),
  limits: REPOSITORY_LIMITS,
})
const fetch = (
  ref: string,
  { protocols = ['file'], signal = new AbortController().signal, url = `file://${repository}`, limits = REPOSITORY_LIMITS } = {},
) => {
  const root = join(dir, `project${++count}`)
  return checkOutRepository(url, ref, { ...place(), root, signal, protocols, limits }).then((commit) => ({
    commit,
    root,
  }))
}

test('resolves a branch to its current commit, which later gives the same files', async () => {
  const first = await fetch('main')
  expect(first.commit).toBe(git('rev-parse', 'HEAD'))
  expect(await readdir(first.root)).toEqual(['site.yml'])
  await writeFile(join(repository, 'site.yml'), 'second')
  git('commit', '--quiet', '-a', '-m', 'second')
  git('tag', 'v2')
  expect(await readFile(join((await fetch('v2')).root, 'site.yml'), 'utf8')).toBe('second')
  const repeated = await fetch(first.commit)
  expect([repeated.commit, await readFile(join(repeated.root, 'site.yml'), 'utf8')]).toEqual([first.commit, 'first'])
})

test('allows only https and ssh by default', async () => {
  const root = join(dir, 'rejected')
  const signal = new AbortController().signal
  await expect(checkOutRepository(`file://${repository}`, 'main', { ...place(), root, signal })).rejects.toThrow(
    /transport 'file' not allowed/,
  )
  await expect(fetch('main', { url: repository, protocols: ['https', 'ssh'] })).rejects.toThrow(/transport 'file' not allowed/)
  await expect(fetch('main', { url: `ext::sh -c "touch ${dir}/pwned"`, protocols: ['https', 'ssh'] })).rejects.toThrow(
    /not allowed/,
  )
  expect(existsSync(join(dir, 'pwned'))).toBe(false)
})

test('reports missing refs and repositories with the message of git', async () => {
  await expect(fetch('no-such-branch')).rejects.toThrow(/could not be fetched at no-such-branch: fatal: .*no-such-branch/)
  await expect(fetch('--upload-pack=touch pwned')).rejects.toThrow(/could not be fetched/)
  expect(existsSync(join(dir, 'pwned'))).toBe(false)
})

test('executes nothing from the repository or the user settings', async () => {
  const hook = `#!/bin/sh\ntouch ${dir}/pwned\n`
  await writeFile(join(repository, '.gitattributes'), '* filter=evil\n')
  await writeFile(join(repository, '.gitmodules'), `[submodule "x"]\n\tpath = x\n\turl = file://${repository}\n`)
  git('add', '.')
  git('commit', '--quiet', '-m', 'hostile')
  // A .gitconfig in git's HOME must be ignored too.
  await mkdir(join(dir, 'home'))
  await writeFile(
    join(dir, 'home/.gitconfig'),
    `[filter "evil"]\n\tsmudge = touch ${dir}/pwned\n[core]\n\thooksPath = ${dir}/hooks\n`,
  )
  await mkdir(join(dir, 'hooks'))
  await writeFile(join(dir, 'hooks/post-checkout'), hook)
  await chmod(join(dir, 'hooks/post-checkout'), 0o755)
  const { root } = await fetch('main')
  expect((await readdir(root)).sort()).toEqual(['.gitattributes', '.gitmodules', 'site.yml'])
  expect(existsSync(join(dir, 'pwned'))).toBe(false)
})

test('stops when the run is aborted', async () => {
  await expect(fetch('main', { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
})
