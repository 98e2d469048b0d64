'use client'
import clsx from 'clsx'
import {
  Activity,
  ArrowLeftRight,
  BellRing,
  Boxes,
  CalendarClock,
  FileStack,
  HardDriveDownload,
  KeyRound,
  Laptop,
  LogOut,
  Moon,
  Network,
  Play,
  Power,
  Server,
  Settings,
  Sun,
  UserRound,
} from 'lucide-react'
import Link from 'next/link'
import { usePathname, useRouter } from 'next/navigation'
import { type ReactNode, useState, useSyncExternalStore } from 'react'
import { useClient } from 'urql'
import { SwitchTenant } from '@/access/member-documents.ts'
import { roleLabel } from '@/access/roles.ts'
import { SignOut, type Viewer } from '@/access/session-documents.ts'
import { useFreshClient } from '@/graphql/fresh-client.ts'
import { liveState } from '@/graphql/socket.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { type Language, languages, t } from '@/messages/index.ts'
import { getLanguage, setLanguage } from '@/messages/language.ts'
import { Badge } from '@/ui/badge.tsx'
import { Menu, MenuChoice, MenuItem } from '@/ui/menu.tsx'
import { toast } from '@/ui/toast.tsx'
import { HelpDialog } from './help.tsx'
import { useShortcuts } from './keys.ts'
import { Logo } from './logo.tsx'
import { readTheme, type Theme, writeTheme } from './theme.ts'

const destinations = [
  { href: '/fleet', label: 'nav.fleet', icon: Activity },
  { href: '/nodes', label: 'nav.nodes', icon: Server },
  { href: '/groups', label: 'nav.groups', icon: Boxes },
  { href: '/boot/profiles', prefix: '/boot', label: 'nav.boot', icon: HardDriveDownload },
  { href: '/power', label: 'nav.power', icon: Power },
  { href: '/manifests', label: 'nav.manifests', icon: FileStack },
  { href: '/runs', label: 'nav.runs', icon: Play },
  { href: '/schedules', label: 'nav.schedules', icon: CalendarClock },
  { href: '/slurm', label: 'nav.slurm', icon: Network },
  { href: '/alerts', label: 'nav.alerts', icon: BellRing },
  { href: '/credentials', label: 'nav.credentials', icon: KeyRound },
  { href: '/settings/tokens', prefix: '/settings', label: 'nav.settings', icon: Settings },
] as const

const themes = [
  { key: 'system', label: 'theme.system', icon: Laptop },
  { key: 'light', label: 'theme.light', icon: Sun },
  { key: 'dark', label: 'theme.dark', icon: Moon },
] as const satisfies readonly { key: Theme; label: string; icon: typeof Sun }[]

function ThemeChoice() {
  const [theme, setTheme] = useState(readTheme)
  return (
    <MenuChoice
      label={t('theme.label')}
      value={theme}
      onChange={(next) => {
        setTheme(next)
        writeTheme(next)
      }}
      choices={themes.map(({ key, label, icon: Icon }) => ({ key, label: t(label), icon: <Icon aria-hidden /> }))}
    />
  )
}

function LanguageChoice() {
  const choices = Object.entries(languages).map(([key, label]) => ({ key: key as Language, label }))
  return <MenuChoice label={t('language.label')} value={getLanguage()} onChange={setLanguage} choices={choices} />
}

/** Shown only while the live connection is lost. */
function ConnectionLost() {
  const state = useSyncExternalStore(liveState.subscribe, liveState.get, () => 'idle' as const)
  return (
    <div aria-live="polite">
      {state === 'lost' && (
        <div className="flex items-center gap-2 rounded-md bg-warn-soft px-2.5 py-1.5 text-xs text-warn">
          <span className="pulse size-2 rounded-full bg-warn-dot" aria-hidden />
          {t('live.lost')}
        </div>
      )}
    </div>
  )
}

function Account({ viewer, compact }: { viewer: Viewer; compact?: boolean }) {
  const router = useRouter()
  const client = useClient()
  const restart = useFreshClient()
  const switching = useMutation(SwitchTenant)
  async function switchTo(tenantId: string) {
    const outcome = await switching.run({ tenantId })
    if (!outcome.ok) return toast('bad', outcome.problem.message)
    // All pages, lists and connections show the other tenant.
    location.assign('/nodes')
  }
  async function signOut() {
    const { data } = await client.mutation(SignOut, {}).toPromise()
    // Ends the session at the identity provider too, which sends the browser back.
    if (data?.signOut.__typename === 'SignOutPayload' && data.signOut.continueUrl)
      return location.assign(data.signOut.continueUrl)
    restart()
    router.replace('/sign-in')
  }
  return (
    <Menu
      label={compact ? t('account.menu') : viewer.name}
      iconOnly={compact}
      icon={<UserRound aria-hidden />}
      quiet
      align={compact ? 'end' : 'start'}
    >
      <div className="w-56">
        <div className="border-b border-line px-2.5 pt-1.5 pb-2">
          <p className="text-sm font-medium wrap-anywhere">{viewer.name}</p>
          {viewer.user && <p className="text-xs wrap-anywhere text-muted">{viewer.user.email}</p>}
          <p className="mt-1.5 flex items-center gap-1.5 text-xs text-muted">
            <Badge>{roleLabel(viewer.role)}</Badge> <span className="wrap-anywhere">{viewer.tenant.name}</span>
          </p>
        </div>
        <div className="py-1">
          {viewer.tenants
            .filter(({ id }) => id !== viewer.tenant.id)
            .map(({ id, name }) => (
              <MenuItem key={id} icon={<ArrowLeftRight aria-hidden />} onClick={() => void switchTo(id)}>
                {t('account.switchTo', { tenant: name })}
              </MenuItem>
            ))}
          <MenuItem icon={<UserRound aria-hidden />} onClick={() => router.push('/settings/account')}>
            {t('account.edit')}
          </MenuItem>
          <MenuItem icon={<LogOut aria-hidden />} onClick={() => void signOut()}>
            {t('account.signOut')}
          </MenuItem>
        </div>
        <div className="flex flex-col gap-2 border-t border-line p-1.5">
          <ThemeChoice />
          <LanguageChoice />
        </div>
      </div>
    </Menu>
  )
}

/** The frame of every page: navigation on the left (at the bottom on a phone), account menu, connection state. */
export function Shell({ viewer, children }: { viewer: Viewer | null; children: ReactNode }) {
  const path = usePathname()
  const [hasHelp, setHelp] = useState(false)
  useShortcuts(() => setHelp(true))
  return (
    <div className="min-h-dvh md:pl-52">
      <a
        href="#main"
        className="sr-only z-50 rounded-md bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        {t('nav.skip')}
      </a>
      <aside className="fixed inset-y-0 left-0 hidden w-52 flex-col border-r border-line bg-panel md:flex">
        <Link href="/nodes" className="flex h-14 items-center gap-2 px-4 text-base font-semibold tracking-tight">
          <Logo />
          {t('app.name')}
        </Link>
        <nav aria-label={t('nav.label')} className="flex flex-col gap-0.5 px-2">
          {destinations.map(({ href, label, icon: Icon, ...destination }) => {
            const isCurrent = path.startsWith('prefix' in destination ? destination.prefix : href)
            return (
              <Link
                key={href}
                href={href}
                aria-current={isCurrent ? 'page' : undefined}
                className={clsx(
                  'flex h-8 items-center gap-2.5 rounded-md px-2.5 text-sm',
                  isCurrent ? 'bg-hover font-medium text-text' : 'text-muted hover:bg-hover hover:text-text',
                )}
              >
                <Icon className="size-4" aria-hidden />
                {t(label)}
              </Link>
            )
          })}
        </nav>
        <div className="mt-auto flex flex-col gap-2 p-2">
          <ConnectionLost />
          <button
            type="button"
            onClick={() => setHelp(true)}
            className="rounded-md px-3 py-1 text-left text-xs text-faint hover:bg-hover hover:text-text"
          >
            {t('help.open')}
          </button>
          <div className="flex h-8 items-center">{viewer && <Account viewer={viewer} />}</div>
        </div>
      </aside>
      <header className="sticky top-0 z-20 flex h-12 items-center justify-between border-b border-line bg-panel px-4 md:hidden">
        <Link href="/nodes" className="flex items-center gap-2 text-base font-semibold tracking-tight">
          <Logo />
          {t('app.name')}
        </Link>
        <div className="flex items-center gap-2">
          <ConnectionLost />
          {viewer && <Account viewer={viewer} compact />}
        </div>
      </header>
      <main id="main" className="mx-auto w-full max-w-[1500px] px-4 pt-4 pb-24 md:px-7 md:pt-6 md:pb-10">
        {children}
      </main>
      <nav
        aria-label={t('nav.label')}
        className="fixed inset-x-0 bottom-0 z-20 grid auto-cols-[minmax(3.4rem,1fr)] grid-flow-col overflow-x-auto border-t border-line bg-panel pb-[env(safe-area-inset-bottom)] md:hidden"
      >
        {destinations.map(({ href, label, icon: Icon, ...destination }) => {
          const isCurrent = path.startsWith('prefix' in destination ? destination.prefix : href)
          return (
            <Link
              key={href}
              href={href}
              aria-current={isCurrent ? 'page' : undefined}
              className={clsx(
                'flex min-w-0 flex-col items-center gap-0.5 py-2 text-[10.5px]',
                isCurrent ? 'text-accent' : 'text-muted',
              )}
            >
              <Icon className="size-4.5" aria-hidden />
              {t(label)}
            </Link>
          )
        })}
      </nav>
      {hasHelp && <HelpDialog onClose={() => setHelp(false)} />}
    </div>
  )
}
