// SPDX-License-Identifier: Apache-2.0
/**
 * Blocks of executors that have ended, where the external shuffle service keeps their map outputs:
 * readers choose another executor on the host ({@link org.sparkrdma.shuffle.standin.StandIns}),
 * which serves them from the directories that the service names ({@link
 * org.sparkrdma.shuffle.standin.ServiceDirectories}).
 *
 * <p>Without the service nothing of it is used. It has no threads of its own.
 */
package org.sparkrdma.shuffle.standin;
