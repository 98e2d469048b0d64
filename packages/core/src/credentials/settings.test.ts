import { fstatSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { loadConfig } from '../kernel/config.ts'
import { masterPasswordSettings, takeMasterPassword } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

function passwordOf(text: string): string {
  const path = join(folder, 'password')
  writeFileSync(path, text)
  return taken({ CREDENTIAL_MASTER_PASSWORD_FILE: path })
}
const taken = (env: NodeJS.ProcessEnv) => takeMasterPassword(loadConfig(env, masterPasswordSettings), env)

it('reads the master password from a file, without its last newline', () => {
  expect(passwordOf(' twelve or more \n')).toBe(' twelve or more ')
  expect(passwordOf('twelve or more\r\n')).toBe('twelve or more')
})

it('removes it from the environment and closes its descriptor', () => {
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

it.each(['', '\n', 'short'])('rejects the master password %j in a file without showing it', (text) => {
  const message = `Invalid configuration:\n  CREDENTIAL_MASTER_PASSWORD_FILE names ${join(folder, 'password')}, whose text must have at least 12 characters`
  expect(() => passwordOf(text)).toThrow(new Error(message))
})

it('names the setting and the missing file', () => {
  const path = join(folder, 'missing')
  expect(() => taken({ CREDENTIAL_MASTER_PASSWORD_FILE: path })).toThrow(
    `CREDENTIAL_MASTER_PASSWORD_FILE names ${path}, which cannot be read (ENOENT)`,
  )
})
