/** Session storage key of the path to open after the sign-in. The provider returns only its own parameters. */
const KEY = 'muster.afterSignIn'

/** Opens the provider, and stores the path to open after the sign-in. */
export function redirectToProvider(url: string, next: string): void {
  sessionStorage.setItem(KEY, next)
  location.assign(url)
}

/** The path given to `redirectToProvider`, once; null when the sign-in was not started in this tab. */
export function takeReturnPath(): string | null {
  const next = sessionStorage.getItem(KEY)
  sessionStorage.removeItem(KEY)
  return next
}
