'use client'
import { Dialog as Base } from '@base-ui/react/dialog'
import clsx from 'clsx'
import { X } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { t } from '@/messages/index.ts'
import { Button } from './button.tsx'

/** Open dialogs, the topmost last. */
const open: symbol[] = []

/** Buttons at the end of a form in a dialog. They stay visible while the form scrolls. */
export const DialogActions = ({ children }: { children: ReactNode }) => (
  // The reason of a blocked button is above the buttons, which stay in one row.
  <div className="sticky -bottom-4 -mx-4 -mb-4 flex flex-wrap items-center justify-end gap-2 rounded-b-xl border-t border-line bg-panel px-4 py-3 [&_[data-reason]]:order-first [&_[data-reason]]:basis-full [&>:has([data-reason])]:contents">
    {children}
  </div>
)

/** A modal dialog, open while mounted. It focuses the first field to fill in, or the dialog itself. */
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
  const [id] = useState(() => Symbol('dialog'))
  useEffect(() => {
    open.push(id)
    return () => void open.splice(open.indexOf(id), 1)
  }, [id])
  const popup = useRef<HTMLDivElement>(null)
  const firstField = () =>
    popup.current?.querySelector<HTMLElement>('input:not([type=checkbox], [type=file]), textarea, select') ?? popup.current
  return (
    <Base.Root
      open
      // A press in a dialog above is outside of this one.
      onOpenChange={(isOpen) => !isOpen && open.at(-1) === id && onClose()}
    >
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-[rgb(8_8_12/0.45)] backdrop-blur-[2px]" />
        <Base.Popup
          ref={popup}
          initialFocus={firstField}
          className={clsx(
            'fixed top-1/2 left-1/2 z-40 flex max-h-[min(90dvh,800px)] w-[calc(100vw-24px)] -translate-x-1/2 -translate-y-1/2 flex-col rounded-xl border border-line-strong bg-panel shadow-float outline-none',
            wide ? 'max-w-3xl' : 'max-w-lg',
          )}
        >
          <header className="flex items-center justify-between gap-3 border-b border-line py-2.5 pr-2.5 pl-4">
            <Base.Title className="min-w-0 text-base font-semibold break-words">{title}</Base.Title>
            <Button variant="quiet" label={t('common.close')} icon={<X aria-hidden />} onClick={onClose} />
          </header>
          <div className="min-h-0 flex-1 overflow-auto p-4">{children}</div>
          {footer && <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-4 py-3">{footer}</footer>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
