import { fstatSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { FOREIGN_SETTINGS, foreignSettings, loadConfig, MASTER_PASSWORD, SETTINGS, takeMasterPassword } from './config.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

function passwordOf(text: string): string {
  const path = join(folder, 'password')
  writeFileSync(path, text)
  return taken({ CREDENTIAL_MASTER_PASSWORD_FILE: path })
}
const taken = (env: NodeJS.ProcessEnv) => takeMasterPassword(loadConfig(env, MASTER_PASSWORD), env)

it('reads the master password from a file, without its last newline', () => {
  expect(passwordOf(' twelve or more \n')).toBe(' twelve or more ')
  expect(passwordOf('twelve or more\r\n')).toBe('twelve or more')
})

it('takes it out of the environment, and closes the descriptor it came by', () => {
  const path = join(folder, 'handed-over')
  writeFileSync(path, 'by a descriptor\n')
  const fd = openSync(path, 'r')
  const env = { CREDENTIAL_MASTER_PASSWORD_FD: String(fd), PATH: '/bin' }
  expect(taken(env)).toBe('by a descriptor')
  expect(env).toEqual({ PATH: '/bin' })
  expect(() => fstatSync(fd)).toThrow(/EBADF/)
  const direct = { CREDENTIAL_MASTER_PASSWORD: 'in the environment' }
  expect(taken(direct)).toBe('in the environment')
  expect(direct).toEqual({})
  expect(() => taken({})).toThrow('set one of CREDENTIAL_MASTER_PASSWORD, CREDENTIAL_MASTER_PASSWORD_FILE')
  expect(() => taken({ CREDENTIAL_MASTER_PASSWORD_FD: '999' })).toThrow('the descriptor 999, which cannot be read (EBADF)')
})

it.each(['', '\n', 'short'])('refuses the master password %j in a file, and does not show it', (text) => {
  const message = `Wrong configuration:\n  CREDENTIAL_MASTER_PASSWORD_FILE names ${join(folder, 'password')}, whose text must have at least 12 characters`
  expect(() => passwordOf(text)).toThrow(new Error(message))
})

it('names the setting and the file that is not there', () => {
  const path = join(folder, 'missing')
  expect(() => taken({ CREDENTIAL_MASTER_PASSWORD_FILE: path })).toThrow(
    `CREDENTIAL_MASTER_PASSWORD_FILE names ${path}, which cannot be read (ENOENT)`,
  )
})

it('tells of settings that mean nothing here, wherever they stand, and never what they hold', () => {
  const file = join(folder, 'settings')
  writeFileSync(file, 'REDIS_DSN=redis://:hush@redis:6379/0\nPORT=4000\n')
  const env = { MUSTER_CONFIG: file, DB_DSN: 'postgresql+asyncpg://u:hush@h/d', JOB_QUEUE_NAME: '' }
  const lines = foreignSettings(env)
  expect(lines).toEqual([
    expect.stringMatching(/^DB_DSN \(from the environment\) means nothing here: set DATABASE_URL/),
    `REDIS_DSN (from ${file}) means nothing here: ${FOREIGN_SETTINGS.REDIS_DSN}`,
  ])
  // A process that cannot start has no log yet.
  const refused = () => loadConfig(env, ['DATABASE_URL', 'PORT'])
  expect(refused).toThrow(/DATABASE_URL is not set/)
  expect(refused).toThrow(lines.join('\n  '))
  expect(lines.join()).not.toContain('hush')
})

it('every setting is documented, and those of the example are settings', () => {
  const text = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
  const table = text('docs/operate.md')
  expect(Object.keys({ ...SETTINGS, ...FOREIGN_SETTINGS }).filter((name) => !table.includes(`\`${name}\``))).toEqual([])
  const offered = [...text('.env.example').matchAll(/^(\w+)=/gm)].map(([, name]) => name!)
  const compose = text('docker-compose.yml')
  expect(offered.filter((name) => !(name in SETTINGS) && name !== 'POSTGRES_PASSWORD')).toEqual([])
  // Compose passes on what the file may set, and offers nothing that it does not.
  const passed = new Set([...compose.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!))
  expect([...passed].sort()).toEqual([...offered].sort())
})
