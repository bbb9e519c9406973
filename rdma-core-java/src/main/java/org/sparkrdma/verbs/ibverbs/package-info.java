// SPDX-License-Identifier: Apache-2.0
/**
 * The engine on the system's libibverbs and librdmacm. They are called through jffi: Java 17 has no
 * java.lang.foreign, and one binding for all versions is half of the code.
 *
 * <p>Entry class is {@link org.sparkrdma.verbs.ibverbs.IbverbsProvider}, the only public one. The
 * engine has no thread: the card and the kernel do the work, and the polling thread does the rest.
 */
package org.sparkrdma.verbs.ibverbs;
