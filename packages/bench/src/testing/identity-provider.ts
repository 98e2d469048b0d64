/** The OpenID Connect provider of the API's tests: npm's oidc-provider in a process of its own. */
export { startOidcProvider } from '../../../../apps/api/src/testing/oidc-provider.ts'
