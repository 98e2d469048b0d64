import type { Login } from '@muster/core/credentials/access'
import type { AnyAuthMethod, ParsedKey } from 'ssh2'
import { loginKey } from './login-key.ts'
import { printable } from './printable.ts'

// A server can ask forever; the first prompts explain a rejected sign-in.
const MAX_PROMPTS = 8
const MAX_PROMPT = 80

/** Offers ssh2 one authentication method after another and records the attempts for the error message. */
export type Authentication = {
  /** @param allowed methods that the server still accepts; null before the first attempt */
  next(allowed: string[] | null): AnyAuthMethod | false
  /** Message and hint for a rejected sign-in. */
  rejection(): [message: string, hint: string]
  /** Describes the successful sign-in. */
  success(): string
}

/** @throws Error when the login's private key cannot be read */
export function authentication(login: Login): Authentication {
  const { username, password } = login
  const key = login.privateKey === undefined ? null : loginKey(login.privateKey, login.passphrase)
  const prompts: string[] = []
  const ways: AnyAuthMethod[] = []
  if (key) ways.push({ type: 'publickey', username, key })
  if (password !== undefined) {
    ways.push({ type: 'password', username, password })
    ways.push({
      type: 'keyboard-interactive',
      username,
      prompt(_name, _instructions, _language, asked, finish) {
        // Only prompts without echo get the password: others ask for something else.
        for (const { prompt } of asked.slice(0, MAX_PROMPTS - prompts.length)) prompts.push(prompt.trim().slice(0, MAX_PROMPT))
        finish(asked.map(({ echo }) => (echo ? '' : password)))
      },
    })
  }
  const tried: string[] = []
  let allowed: string[] = []
  return {
    next(stillAllowed) {
      if (stillAllowed) allowed = stillAllowed
      const at = ways.findIndex((way) => !stillAllowed || stillAllowed.includes(way.type))
      if (at === -1) return false
      const [way] = ways.splice(at, 1)
      tried.push(way!.type)
      return way!
    },
    rejection() {
      const offers = `it allows ${printable(allowed.join(', ')) || 'nothing else'}`
      if (tried.length === 0 && !key && password === undefined)
        return [`There is no credential to sign in as ${username}.`, 'Give the node an SSH key or an SSH password.']
      if (key && password === undefined && !allowed.includes('publickey') && allowed.length > 0)
        return [
          `The server accepts no keys from ${username}: ${offers}.`,
          'Use an SSH password, or set PubkeyAuthentication in its sshd_config.',
        ]
      if (key)
        return [
          `The server rejects this ${key.type} key of ${username}; ${offers}.`,
          `Add its public key to ~${username}/.ssh/authorized_keys: ${publicLine(key)}`,
        ]
      if (!allowed.includes('password') && !allowed.includes('keyboard-interactive'))
        return [
          `The server accepts no passwords from ${username}: ${offers}.`,
          'Use an SSH key, or set PasswordAuthentication in its sshd_config.',
        ]
      const other = prompts.find((prompt) => !/passw/i.test(prompt))
      if (other)
        return [`The server asks ${username} for more than a password: ${JSON.stringify(printable(other))}.`, 'Use an SSH key.']
      return [
        `The server rejects this password of ${username}; ${offers}.`,
        'Check the password, and that the account is neither locked nor expired.',
      ]
    },
    success: () => `${username} by ${tried.at(-1)}`,
  }
}

const publicLine = (key: ParsedKey) => `${key.type} ${key.getPublicSSH().toString('base64')}`
