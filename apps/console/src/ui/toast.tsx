'use client'
import { Toast as Base } from '@base-ui/react/toast'
import { CircleAlert, CircleCheck, X } from 'lucide-react'
import Link from 'next/link'
import { t } from '@/messages/index.ts'

type Tone = 'ok' | 'bad'
type ToastLink = { href: string; text: string }
const manager = Base.createToastManager<{ tone: Tone; link?: ToastLink }>()

/** Reports an outcome briefly. Use a notice in the page for anything that requires action. */
export function toast(tone: Tone, text: string, link?: ToastLink): void {
  manager.add({ description: text, timeout: tone === 'bad' ? 10_000 : 5000, data: { tone, link } })
}

function Items() {
  const { toasts, close } = Base.useToastManager<{ tone: Tone; link?: ToastLink }>()
  return toasts.map((item) => {
    const { tone, link } = item.data ?? { tone: 'ok' }
    const Icon = tone === 'ok' ? CircleCheck : CircleAlert
    return (
      <Base.Root
        key={item.id}
        role="group"
        toast={item}
        className="pointer-events-auto rounded-lg border border-line-strong bg-panel py-2 pr-2 pl-3 text-sm shadow-float data-limited:hidden"
      >
        <Base.Content className="flex items-start gap-2">
          <Icon className={tone === 'ok' ? 'mt-0.5 size-4 shrink-0 text-ok' : 'mt-0.5 size-4 shrink-0 text-bad'} aria-hidden />
          <div className="min-w-0 flex-1 break-words">
            <Base.Description render={<span />} />{' '}
            {link && (
              <Link
                href={link.href}
                className="font-medium text-accent underline underline-offset-2"
                onClick={() => close(item.id)}
              >
                {link.text}
              </Link>
            )}
          </div>
          <Base.Close
            aria-label={t('common.dismiss')}
            className="grid size-6 shrink-0 place-items-center rounded text-muted hover:bg-hover"
          >
            <X className="size-3.5" aria-hidden />
          </Base.Close>
        </Base.Content>
      </Base.Root>
    )
  })
}

/** The container of toasts, an ARIA live region. */
export function Toasts() {
  return (
    <Base.Provider toastManager={manager} limit={4}>
      <Base.Portal>
        <Base.Viewport
          aria-label={t('common.notifications')}
          className="pointer-events-none fixed right-3 bottom-16 left-3 z-60 ml-auto flex max-w-sm flex-col-reverse gap-2 md:bottom-3"
        >
          <Items />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  )
}
