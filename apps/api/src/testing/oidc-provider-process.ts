import { createServer } from 'node:http'
import Provider from 'oidc-provider'
import type { ProviderAccounts, ProviderOptions } from './oidc-provider.ts'

// An OpenID Connect provider of npm's oidc-provider. The parent sends options, then accounts whenever they change; this process sends
// the address of the issuer. Its sign-in form accepts every password.
let accounts: ProviderAccounts = {}

async function serve({ clientId, clientSecret, redirectUri, signedOutUri }: ProviderOptions): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const issuer = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [signedOutUri],
      },
    ],
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified', 'groups'] },
    cookies: { keys: ['a key for tests only'] },
    pkce: { required: () => true },
    findAccount: (_ctx, id) => {
      const own = accounts[id]
      return own && { accountId: id, claims: () => ({ sub: id, ...own }) }
    },
    // Every user has consented.
    async loadExistingGrant(ctx) {
      const grant = new ctx.oidc.provider.Grant({ clientId, accountId: ctx.oidc.session!.accountId! })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  })
  server.on('request', provider.callback())
  return issuer
}

process.on('message', (message: { options?: ProviderOptions; accounts?: ProviderAccounts }) => {
  if (message.accounts) accounts = message.accounts
  if (message.options) void serve(message.options).then((issuer) => process.send!({ issuer }))
  else process.send!({ accepted: true })
})
process.on('disconnect', () => process.exit(0))
