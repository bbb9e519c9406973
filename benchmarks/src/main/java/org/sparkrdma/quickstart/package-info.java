/**
 * What the {@code quickstart} script runs after the build: one sort on a real cluster under each
 * kind of shuffle, and a table that compares them.
 *
 * <p>Entry: {@link org.sparkrdma.quickstart.Quickstart}. Its main thread does everything but two
 * things: lines of a driver's output arrive on a thread of the cluster's, and a shutdown hook ends
 * the cluster and deletes the data when the run is interrupted.
 */
package org.sparkrdma.quickstart;
