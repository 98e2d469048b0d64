import { fork } from 'node:child_process'
import { once } from 'node:events'

export type ProviderOptions = { clientId: string; clientSecret: string; redirectUri: string; signedOutUri: string }
/** Claims by the name that the user enters in the provider's form. */
export type ProviderAccounts = Record<string, Record<string, unknown>>

/** Starts npm's oidc-provider in a process of its own. */
export async function startOidcProvider(options: ProviderOptions) {
  const child = fork(new URL('./oidc-provider-process.ts', import.meta.url), { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  const exited = once(child, 'exit')
  const ask = async <T>(message: object): Promise<T> => {
    child.send(message)
    const [answer] = await Promise.race([
      once(child, 'message'),
      exited.then(() => Promise.reject(new Error('the OIDC provider ended'))),
    ])
    return answer as T
  }
  const { issuer } = await ask<{ issuer: string }>({ options })
  return {
    issuer,
    setAccounts: (accounts: ProviderAccounts) => ask({ accounts }),
    /** Signs `login` in as a browser does. @returns the query string with which the provider sends the browser back */
    signIn: (url: string, login: string) => signInAt(url, login, options.redirectUri),
    async close() {
      child.kill()
      await exited
    },
  }
}

async function signInAt(start: string, login: string, redirectUri: string): Promise<string> {
  const cookies = new Map<string, string>()
  let url = start
  let form: URLSearchParams | undefined
  for (let step = 0; step < 10; step++) {
    if (url.startsWith(redirectUri)) return new URL(url).search.slice(1)
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form ? { method: 'POST', body: form } : {}),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      cookies.set(name!, value!)
    }
    const location = response.headers.get('location')
    const page = await response.text()
    if (location) {
      form = undefined
      url = new URL(location, url).href
      continue
    }
    const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1]
    if (!action) throw new Error(`the provider answers ${response.status}: ${page.slice(0, 500)}`)
    url = new URL(action, url).href
    form = new URLSearchParams({ prompt: 'login', login, password: 'any' })
  }
  throw new Error('the provider does not send the browser back')
}
