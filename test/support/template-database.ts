/** The database that `createTestDatabase` clones: every migration applied, no row written. */
export const TEMPLATE_DATABASE = 'holdfast_template';
