'use client'
import { Search } from 'lucide-react'
import { FilterSelect } from '@/ui/filter-select.tsx'
import type { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useQueryText } from '@/ui/hooks/use-query-text.ts'

type Query = ReturnType<typeof useQueryState>

/** A search field whose text is in the URL query. */
export function QuerySearch({ query, label }: { query: Query; label: string }) {
  const [text, setText] = useQueryText(query, 'q')
  return (
    <div className="relative min-w-0 flex-1 basis-48 md:max-w-sm">
      <Search className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" aria-hidden />
      <input
        data-search
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="h-8 w-full rounded-md border border-line-strong bg-panel pr-3 pl-8 text-sm placeholder:text-faint"
      />
    </div>
  )
}

/** A filter by one of Slurm's words, with the chosen one in the URL query even when the cluster no longer has it. */
export function WordSelect({
  query,
  name,
  label,
  words,
}: {
  query: Query
  name: string
  label: string
  words: readonly string[]
}) {
  const chosen = query.get(name)
  const all = chosen && !words.includes(chosen) ? [chosen, ...words] : words
  return (
    <FilterSelect label={label} value={chosen} onChange={(value) => query.set({ [name]: value })}>
      <option value="">{label}</option>
      {all.map((word) => (
        <option key={word} value={word}>
          {word}
        </option>
      ))}
    </FilterSelect>
  )
}
