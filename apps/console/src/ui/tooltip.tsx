'use client'
import { Tooltip as Base } from '@base-ui/react/tooltip'
import { type ReactElement, useState } from 'react'

/** Shows a text on hover and keyboard focus of its child, with `opensOnClick` also on click and touch. */
export function Tooltip({
  id,
  text,
  children,
  opensOnClick,
}: {
  /** The ID of the child, if it has one. */
  id?: string
  text: string | null | undefined
  children: ReactElement
  opensOnClick?: boolean
}) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Base.Root
      open={isOpen && Boolean(text)}
      onOpenChange={(open, { reason }) => setOpen(open || Boolean(opensOnClick && reason === 'trigger-press'))}
    >
      <Base.Trigger
        id={id}
        delay={200}
        closeOnClick={!opensOnClick}
        onClick={opensOnClick ? () => setOpen(true) : undefined}
        render={children}
      />
      <Base.Portal>
        <Base.Positioner className="z-60" sideOffset={6} collisionPadding={8}>
          <Base.Popup
            role="tooltip"
            className="max-w-80 rounded-md border border-line-strong bg-panel px-2.5 py-1.5 text-left text-xs whitespace-pre-line text-text shadow-float"
          >
            {text}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
