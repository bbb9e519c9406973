// SPDX-License-Identifier: Apache-2.0
/**
 * What the commands of this module have in common: options, progress, a run's directory, and a
 * cluster that does not outlive them.
 *
 * <p>Entry: {@link org.sparkrdma.launch.ClusterCommand}. The main thread does everything but two
 * things: lines of a driver's output arrive on a thread of the cluster's, and a shutdown hook ends
 * the cluster and deletes the data when the run is interrupted.
 */
package org.sparkrdma.launch;
