import ssh2 from 'ssh2'
import { expect, it } from 'vitest'
import { fingerprint, newKeyLogin, newKeyPair } from './keys.ts'

it('makes only keys that can be read again, among many', () => {
  // One key of 256 begins with a zero byte; of 3000, all but certainly some would.
  for (let index = 0; index < 3000; index++) {
    const parsed = ssh2.utils.parseKey(newKeyPair('test').private)
    expect(parsed).not.toBeInstanceOf(Error)
  }
})

it('locks a second key under a passphrase, and authorises both', () => {
  const login = newKeyLogin('ops')
  expect(ssh2.utils.parseKey(login.encryptedPrivateKey)).toBeInstanceOf(Error)
  const open = ssh2.utils.parseKey(login.encryptedPrivateKey, login.passphrase)
  if (open instanceof Error) throw open
  expect(login.publicKey.split('\n')[1]).toContain(open.getPublicSSH().toString('base64'))
})

it('prints fingerprints as OpenSSH does', () => {
  // As `ssh-keygen -l` prints it.
  const line = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGk9bBJWJ2QyZyL0VvB3sZsVq5ZbX1yq4m1vY0d3uPzT example'
  expect(fingerprint(line)).toBe('SHA256:sffwAHADDZbO4d3yteZ5CQrHS46I8SoMLMO07fk/3Uk')
})
