/**
 * Who listens where: each executor publishes its {@link org.sparkrdma.shuffle.directory.Endpoint}
 * to the driver, and looks up those of others there.
 *
 * <p>RPC messages carry types of the JDK only, since an executor's RPC class loader does not know
 * the plug-in's jar.
 */
package org.sparkrdma.shuffle.directory;
