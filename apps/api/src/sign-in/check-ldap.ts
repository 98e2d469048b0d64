import { hashToken } from '@muster/core/access'
import { NotFound } from '@muster/core/errors'
import type { RequestFacts } from '../http/request-facts.ts'
import { findUserOfIdentity, type Identity } from './identity.ts'
import type { SignInParts } from './parts.ts'
import type { AuditFacts } from './request-ctx.ts'

export type LdapPassword = { userName: string; password: string }
export type CheckLdap = (facts: RequestFacts & Pick<AuditFacts, 'attempt'>, given: LdapPassword) => Promise<Identity>

/** Checks names and passwords of the LDAP directory, with a limit of attempts. */
export function createLdapCheck({ db, throttle, addressOf, ldap }: SignInParts): CheckLdap {
  /** @throws NotFound there is no directory; Unauthenticated, Unavailable */
  return async (facts, { userName, password }) => {
    if (!ldap) throw new NotFound('This installation has no LDAP directory (LDAP_URL).')
    const [name, address] = [userName.trim(), addressOf(facts)]
    await throttle.attempt('ldap', address, name)
    const identity = await ldap.authenticate(name, password, async (subject) => {
      // An unknown name causes the same statements, so that it takes as long.
      const account = subject ?? `unknown ${hashToken(name)}`
      const user = await findUserOfIdentity(db, 'ldap', account)
      if (facts.attempt && user) facts.attempt.userEmail = user.email
      // Directories accept several names and spellings of one entry.
      await throttle.attemptOf('ldap-entry', address, account)
    })
    await throttle.succeeded('ldap', name, address)
    await throttle.succeeded('ldap-entry', identity.subject, address)
    return identity
  }
}
