'use client'
import { useEffect, useState } from 'react'

/** The secret of a link, after `#token=`; undefined until it is read, null without one. It is removed from the address. */
export function useLinkToken(): string | null | undefined {
  const [token, setToken] = useState<string | null>()
  useEffect(() => {
    const found = new URLSearchParams(location.hash.slice(1)).get('token')
    // React runs effects twice in development: the second run finds no fragment.
    setToken((before) => before ?? found)
    if (found) history.replaceState(null, '', location.pathname)
  }, [])
  return token
}
