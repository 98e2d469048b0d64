'use client'
import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { t } from '@/messages/index.ts'
import { Button } from './button.tsx'

/** Puts a text on the clipboard. Works without a secure context too, where browsers offer no clipboard API. */
export function CopyButton({ text, label, quiet = true }: { text: string | (() => string); label?: string; quiet?: boolean }) {
  const [isDone, setDone] = useState(false)
  async function copy() {
    const value = typeof text === 'function' ? text() : text
    if (navigator.clipboard) await navigator.clipboard.writeText(value)
    else {
      const area = document.createElement('textarea')
      area.value = value
      // Inside an open dialog everything else is inert and cannot be selected.
      const place = document.querySelector('dialog[open]') ?? document.body
      place.append(area)
      area.select()
      document.execCommand('copy')
      area.remove()
    }
    setDone(true)
    setTimeout(() => setDone(false), 1500)
  }
  return (
    <Button
      look={quiet ? 'quiet' : 'plain'}
      label={label ? undefined : t('common.copy')}
      icon={isDone ? <Check aria-hidden /> : <Copy aria-hidden />}
      onClick={copy}
    >
      {label && (isDone ? t('common.copied') : label)}
    </Button>
  )
}
