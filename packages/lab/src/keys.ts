import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import ssh2 from 'ssh2'
import type { KeyLogin } from './types.ts'

/** A fresh Ed25519 key pair: OpenSSH PEM (under the passphrase, if there is one) and the one-line public key. */
export function newKeyPair(comment: string, passphrase?: string): { private: string; public: string } {
  // The passphrase is as public as the key; one round keeps bcrypt from costing more than the whole lab.
  const secret = passphrase === undefined ? {} : { passphrase, cipher: 'aes256-ctr', rounds: 1 }
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519', { comment, ...secret })
    // ssh2 1.17 drops the leading zero byte that one public key of 256 has, and writes a key that nobody can read.
    if (publicBlob(pair.public).length === 51) return pair
  }
}

const publicBlob = (line: string) => Buffer.from(line.split(' ')[1] ?? '', 'base64')

/** `SHA256:…` of a one-line public key, as ssh-keygen prints it. */
export function fingerprint(publicKey: string): string {
  return `SHA256:${createHash('sha256').update(publicBlob(publicKey)).digest('base64').replace(/=+$/, '')}`
}

/** A key for logging in, with a twin under a passphrase. `publicKey` holds both lines, ready for authorized_keys. */
export function newKeyLogin(username: string): KeyLogin {
  const open = newKeyPair(username)
  const passphrase = newPassword()
  const closed = newKeyPair(`${username}-encrypted`, passphrase)
  const publicKey = `${open.public}\n${closed.public}\n`
  return { username, privateKey: open.private, publicKey, encryptedPrivateKey: closed.private, passphrase }
}

/** 96 random bits, easy to type. */
export function newPassword(): string {
  return randomBytes(12).toString('base64url').replace(/^-/, 'x')
}

/** SHA-512-crypt hashes for /etc/shadow, in the order of the passwords, which travel on stdin. */
export function hashPasswords(passwords: string[]): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = execFile('openssl', ['passwd', '-6', '-stdin'], (error, stdout) => {
      if (error) reject(new Error(`openssl could not hash the lab's passwords (apt package openssl): ${error.message}`))
      else resolve(stdout.trim().split('\n'))
    })
    child.stdin?.end(`${passwords.join('\n')}\n`)
  })
}
