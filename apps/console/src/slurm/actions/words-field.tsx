'use client'
import { type ComponentProps, useState } from 'react'
import { TextField } from '@/ui/field.tsx'

type Props = Omit<ComponentProps<typeof TextField>, 'value' | 'onChange'> & {
  words: readonly string[]
  /** Null: the field is empty. */
  onWords: (words: string[] | null) => void
}

/** A text field for names, separated by commas or spaces. `words` is the value at first. */
export function WordsField({ words, onWords, ...field }: Props) {
  const [text, setText] = useState(words.join(', '))
  return (
    <TextField
      {...field}
      mono
      value={text}
      onChange={({ target }) => {
        setText(target.value)
        const given = target.value.split(/[\s,]+/).filter(Boolean)
        onWords(given.length > 0 ? given : null)
      }}
    />
  )
}
