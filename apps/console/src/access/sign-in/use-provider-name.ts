'use client'
import { useQuery } from 'urql'
import { SignInMethodsQuery } from './sign-in-method-documents.ts'

/** Name of the identity provider of this kind; undefined while loading and when there is none. */
export function useProviderName(kind: 'OIDC' | 'LDAP'): string | undefined {
  const [{ data }] = useQuery({ query: SignInMethodsQuery })
  return data?.signInMethods.find((method) => method.kind === kind)?.name ?? undefined
}
