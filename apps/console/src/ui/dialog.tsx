'use client'
import { X } from 'lucide-react'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { t } from '@/messages/index.ts'
import { Button } from './button.tsx'
import { cx } from './cx.ts'

/** A modal on the browser's own <dialog>: focus is trapped and given back, Esc and a click beside it close. */
export function Dialog({
  title,
  children,
  onClose,
  footer,
  wide,
}: {
  title: string
  children: ReactNode
  onClose: () => void
  footer?: ReactNode
  wide?: boolean
}) {
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const dialog = ref.current
    if (dialog && !dialog.open) {
      dialog.showModal()
      // The browser would focus the close button; the first thing to fill in is a better start, else the dialog as a whole.
      const field = dialog.querySelector<HTMLElement>('input:not([type=checkbox], [type=file]), textarea, select')
      ;(field ?? dialog).focus()
    }
    return () => dialog?.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard's way to close is Esc, which <dialog> handles
    <dialog
      ref={ref}
      tabIndex={-1}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => event.target === ref.current && onClose()}
      className={cx(
        'max-h-[min(90dvh,800px)] w-[calc(100vw-24px)] rounded-xl border border-line-strong bg-panel p-0 shadow-float outline-none',
        wide ? 'max-w-3xl' : 'max-w-lg',
      )}
    >
      <div className="flex max-h-[min(90dvh,800px)] flex-col">
        <header className="flex items-center justify-between gap-3 border-b border-line py-2.5 pr-2.5 pl-4">
          <h2 id={titleId} className="text-base font-semibold">
            {title}
          </h2>
          <Button look="quiet" label={t('common.close')} icon={<X aria-hidden />} onClick={onClose} />
        </header>
        <div className="min-h-0 flex-1 overflow-auto p-4">{children}</div>
        {footer && <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-4 py-3">{footer}</footer>}
      </div>
    </dialog>
  )
}
