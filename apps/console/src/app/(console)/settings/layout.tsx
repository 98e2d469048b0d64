'use client'
import clsx from 'clsx'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { type ReactNode, useEffect, useRef } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { t } from '@/messages/index.ts'

const pages = [
  { href: '/settings/account', label: 'nav.account' },
  { href: '/settings/members', label: 'members.title' },
  { href: '/settings/roles', label: 'roles.title' },
  { href: '/settings/grants', label: 'grants.title' },
  { href: '/settings/sign-in', label: 'signInMethods.title' },
  { href: '/settings/tokens', label: 'nav.tokens' },
  { href: '/settings/agents', label: 'nav.agentSettings' },
  { href: '/settings/openchami', label: 'openchami.title' },
  { href: '/settings/tenants', label: 'tenants.title' },
  { href: '/settings/system', label: 'system.title' },
  { href: '/settings/audit', label: 'nav.audit' },
  { href: '/settings/audit-sinks', label: 'sinks.title' },
  { href: '/settings/ledger', label: 'ledger.title' },
  { href: '/settings/retention', label: 'retention.title' },
] as const

/** Navigation between settings pages. */
export default function SettingsLayout({ children }: { children: ReactNode }) {
  const path = usePathname()
  const tenantsBlocked = useBlockedReason('tenant:manage')
  const shown = pages.filter(({ href }) => href !== '/settings/tenants' || tenantsBlocked === null)
  const nav = useRef<HTMLElement>(null)
  // On a narrow screen the current page's link may be outside of the visible part.
  useEffect(() => {
    if (path) nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [path])
  return (
    <>
      <nav ref={nav} aria-label={t('nav.settings')} className="mb-4 flex gap-5 overflow-x-auto border-b border-line">
        {shown.map(({ href, label }) => (
          <Link
            key={href}
            href={href}
            aria-current={path === href ? 'page' : undefined}
            className={clsx(
              '-mb-px border-b-2 px-0.5 py-2 text-sm font-medium whitespace-nowrap',
              path === href ? 'border-accent text-text' : 'border-transparent text-muted hover:text-text',
            )}
          >
            {t(label)}
          </Link>
        ))}
      </nav>
      {children}
    </>
  )
}
