import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Product } from '@muster/bench/product'
import { expect } from 'vitest'
import { SERVICE, startSlapd } from '../../../api/src/testing/slapd.ts'

const LDIF = `dn: dc=site,dc=test
objectClass: dcObject
objectClass: organization
o: Site
`

/**
 * Starts a second API that signs users in through an OpenID provider and a directory, which both reject it after it has sent these
 * secrets. @returns its answers
 */
export async function useProviderSecrets(product: Product, clientSecret: string, bindPassword: string): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-providers-'))
  const fileOf = (name: string, text: string): string => {
    writeFileSync(path.join(folder, name), text, { mode: 0o600 })
    return path.join(folder, name)
  }
  const slapd = await startSlapd(LDIF)
  const authorizations: string[] = []
  const provider = createServer((request: IncomingMessage, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url?.startsWith('/.well-known/'))
      return response.end(JSON.stringify({ issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` }))
    authorizations.push(request.headers.authorization ?? '')
    response.writeHead(401).end(JSON.stringify({ error: 'invalid_client' }))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => provider.once('listening', resolve))
  const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  try {
    await product.start('second-api', {
      LOCAL_TARGETS: '127.0.0.1',
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: 'muster',
      OIDC_CLIENT_SECRET_FILE: fileOf('client-secret', clientSecret),
      LDAP_URL: slapd.secure,
      LDAP_CA_FILE: slapd.ca,
      LDAP_BIND_DN: SERVICE.dn,
      LDAP_BIND_PASSWORD_FILE: fileOf('bind-password', bindPassword),
      LDAP_USER_BASE: 'dc=site,dc=test',
      LDAP_GROUP_BASE: 'dc=site,dc=test',
    })
    let cookie = ''
    const send = async (operation: string, fields: string, input: object) => {
      const type = `${operation[0]!.toUpperCase()}${operation.slice(1)}`
      const response = await fetch(`${product.secondUrl}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie },
        body: JSON.stringify({
          query: `mutation ($input: ${type}Input!) { it: ${operation}(input: $input) { __typename ... on ${type}Payload { ${fields} } ... on Error { message } } }`,
          variables: { input },
        }),
      })
      cookie =
        response.headers
          .getSetCookie()
          .map((each) => each.split(';')[0])
          .join('; ') || cookie
      return (await response.json()) as { data: { it: { url: string; message: string } } }
    }
    const started = await send('startOidcSignIn', 'url', {})
    const state = new URL(started.data.it.url).searchParams.get('state')
    const answers = [
      await send('finishOidcSignIn', '__typename', { response: `code=x&state=${state}&iss=${encodeURIComponent(issuer)}` }),
      await send('signInWithLdap', '__typename', { userName: 'ada', password: 'a wrong password' }),
    ]
    expect(answers.map(({ data }) => data.it.message)).toEqual([
      expect.stringContaining('rejects the client of Muster'),
      expect.stringContaining('rejects the service account'),
    ])
    expect(authorizations).toHaveLength(1)
    return JSON.stringify(answers)
  } finally {
    provider.close()
    await slapd.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
