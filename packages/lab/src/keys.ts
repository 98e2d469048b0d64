import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import ssh2 from 'ssh2'
import type { KeyLogin } from './types.ts'

/** Generates an Ed25519 key pair: OpenSSH PEM, encrypted when a passphrase is given, and the one-line public key. */
export function newKeyPair(comment: string, passphrase?: string): { private: string; public: string } {
  // Lab keys need no protection; one bcrypt round keeps their generation fast.
  const secret = passphrase === undefined ? {} : { passphrase, cipher: 'aes256-ctr', rounds: 1 }
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519', { comment, ...secret })
    // ssh2 1.17 drops a leading zero byte, which one public key in 256 has, and writes an unreadable key.
    if (publicBlob(pair.public).length === 51) return pair
  }
}

const publicBlob = (line: string) => Buffer.from(line.split(' ')[1] ?? '', 'base64')

/** `SHA256:…` of a one-line public key, as ssh-keygen prints it. */
export function fingerprint(publicKey: string): string {
  return `SHA256:${createHash('sha256').update(publicBlob(publicKey)).digest('base64').replace(/=+$/, '')}`
}

/** Generates a login key and a second one with a passphrase. `publicKey` has both lines for authorized_keys. */
export function newKeyLogin(username: string): KeyLogin {
  const plain = newKeyPair(username)
  const passphrase = newPassword()
  const encrypted = newKeyPair(`${username}-encrypted`, passphrase)
  const publicKey = `${plain.public}\n${encrypted.public}\n`
  return { username, privateKey: plain.private, publicKey, encryptedPrivateKey: encrypted.private, passphrase }
}

/** A random password of 96 bits. */
export function newPassword(): string {
  return randomBytes(12).toString('base64url').replace(/^-/, 'x')
}

/** SHA-512-crypt hashes for /etc/shadow, in the order of the passwords. The passwords are passed on stdin. */
export function hashPasswords(passwords: string[]): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = execFile('openssl', ['passwd', '-6', '-stdin'], (error, stdout) => {
      if (error) reject(new Error(`openssl failed to hash the lab's passwords (apt package openssl): ${error.message}`))
      else resolve(stdout.trim().split('\n'))
    })
    child.stdin?.end(`${passwords.join('\n')}\n`)
  })
}
