export { EXPORT_QUERIES, exportLines, importRow } from './export-import.ts'
