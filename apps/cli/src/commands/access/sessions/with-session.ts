import { readSettings } from '../../../settings.ts'
import { askAndSignIn, type PasswordOptions, signOut } from '../sign-in.ts'

/** Signs in for one command, because the saved API token has no access to the user's sessions, and signs out afterwards. */
export async function withSession<T>(
  options: PasswordOptions,
  work: (access: { url: string; token: string }) => Promise<T>,
): Promise<T> {
  const { url } = readSettings()
  const { sessionToken: token } = await askAndSignIn(url, options)
  try {
    return await work({ url, token })
  } finally {
    await signOut(url, token)
  }
}

export const EMAIL = ['--email <address>', 'your email address (default: prompt)'] as const
export const PASSWORD_STDIN = [
  '--password-stdin',
  'read the password, and the code of an authenticator app if you have one, from standard input, one per line',
] as const
