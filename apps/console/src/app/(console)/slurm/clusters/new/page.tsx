'use client'
import Link from 'next/link'
import { t } from '@/messages/index.ts'
import { CreateForm } from '@/slurm/scale/create-form.tsx'
import { PageHead } from '@/ui/page.tsx'
import { useTitle } from '@/ui/use-title.ts'

/** Creates a managed Slurm cluster from nodes. */
export default function NewClusterPage() {
  useTitle(t('slurmScale.create'))
  return (
    <>
      <PageHead
        above={
          <Link href="/slurm/clusters" className="hover:underline">
            {t('slurm.clusters')}
          </Link>
        }
        title={t('slurmScale.create')}
      />
      <CreateForm />
    </>
  )
}
