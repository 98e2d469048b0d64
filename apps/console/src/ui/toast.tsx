'use client'
import { CircleAlert, CircleCheck, X } from 'lucide-react'
import Link from 'next/link'
import { useEffect, useSyncExternalStore } from 'react'
import { t } from '@/messages/index.ts'

type Toast = { id: number; tone: 'ok' | 'bad'; text: string; href?: string; linkText?: string }
let toasts: Toast[] = []
let nextId = 1
const listeners = new Set<() => void>()
function publish(next: Toast[]) {
  toasts = next
  for (const listener of listeners) listener()
}
function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
const none: Toast[] = []

/** Say in passing that something worked or did not. What must be acted upon belongs in the page, not here. */
export function toast(tone: Toast['tone'], text: string, link?: { href: string; text: string }): void {
  publish([...toasts.slice(-3), { id: nextId++, tone, text, href: link?.href, linkText: link?.text }])
}

function Item({ item }: { item: Toast }) {
  const close = () => publish(toasts.filter((other) => other.id !== item.id))
  useEffect(() => {
    const timer = setTimeout(() => publish(toasts.filter((other) => other.id !== item.id)), item.tone === 'bad' ? 10_000 : 5000)
    return () => clearTimeout(timer)
  }, [item])
  const Icon = item.tone === 'ok' ? CircleCheck : CircleAlert
  return (
    <div className="pointer-events-auto flex items-start gap-2 rounded-lg border border-line-strong bg-panel py-2 pr-2 pl-3 text-sm shadow-float">
      <Icon className={item.tone === 'ok' ? 'mt-0.5 size-4 text-ok' : 'mt-0.5 size-4 text-bad'} aria-hidden />
      <span className="min-w-0 flex-1 break-words">
        {item.text}{' '}
        {item.href && (
          <Link href={item.href} className="font-medium text-accent underline underline-offset-2" onClick={close}>
            {item.linkText}
          </Link>
        )}
      </span>
      <button
        type="button"
        aria-label={t('common.dismiss')}
        onClick={close}
        className="grid size-6 place-items-center rounded text-muted hover:bg-hover"
      >
        <X className="size-3.5" aria-hidden />
      </button>
    </div>
  )
}

/** Where toasts appear; read out politely. */
export function Toasts() {
  const items = useSyncExternalStore(
    subscribe,
    () => toasts,
    () => none,
  )
  return (
    <div
      aria-live="polite"
      className="pointer-events-none fixed right-3 bottom-16 left-3 z-50 ml-auto flex max-w-sm flex-col gap-2 md:bottom-3"
    >
      {items.map((item) => (
        <Item key={item.id} item={item} />
      ))}
    </div>
  )
}
