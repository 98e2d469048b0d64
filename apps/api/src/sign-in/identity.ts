/** A person whom an identity provider has authenticated. */
export type Identity = {
  /** Unique and stable at all providers of the protocol. */
  subject: string
  /** Null: the provider sends none. */
  email: string | null
  isEmailVerified: boolean
  name: string
  groups: string[]
  /** Names of the roles of the groups, by tenant name. */
  roles: Map<string, string[]>
}
