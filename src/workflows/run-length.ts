// How long one run may get.

/**
 * Steps of one run: about twice what 72 hours of looks and one long hold need. A run that has made so many ends, so that its history stays
 * short; the sweep starts the next one at the row.
 */
export const MOST_STEPS_OF_A_RUN = 500;
