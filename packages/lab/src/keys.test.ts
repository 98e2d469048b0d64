import ssh2 from 'ssh2'
import { expect, it } from 'vitest'
import { fingerprint, newKeyLogin, newKeyPair } from './keys.ts'

it('generates only keys that can be parsed', () => {
  // One public key in 256 starts with a zero byte, so 3000 keys include some with near certainty.
  for (let index = 0; index < 3000; index++) {
    const parsed = ssh2.utils.parseKey(newKeyPair('test').private)
    expect(parsed).not.toBeInstanceOf(Error)
  }
})

it('encrypts a second key with a passphrase and authorizes both', () => {
  const login = newKeyLogin('ops')
  expect(ssh2.utils.parseKey(login.encryptedPrivateKey)).toBeInstanceOf(Error)
  const open = ssh2.utils.parseKey(login.encryptedPrivateKey, login.passphrase)
  if (open instanceof Error) throw open
  expect(login.publicKey.split('\n')[1]).toContain(open.getPublicSSH().toString('base64'))
})

it('prints fingerprints in the format of OpenSSH', () => {
  // The expected value is the output of `ssh-keygen -l`.
  const line = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGk9bBJWJ2QyZyL0VvB3sZsVq5ZbX1yq4m1vY0d3uPzT example'
  expect(fingerprint(line)).toBe('SHA256:sffwAHADDZbO4d3yteZ5CQrHS46I8SoMLMO07fk/3Uk')
})
