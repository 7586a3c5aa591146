package org.gramian.backbone.weights;

import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import org.jspecify.annotations.Nullable;

/** What went wrong with a connection, in words: Java's own messages are often empty. */
final class Failure {
    private Failure() {}

    static String reason(IOException failure) {
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            switch (cause) {
                case UnresolvedAddressException _ -> {
                    return "the server's name cannot be resolved; there may be no network";
                }
                case UnknownHostException _ -> {
                    return "the server's name cannot be resolved; there may be no network";
                }
                case HttpTimeoutException _ -> {
                    return "the server did not respond in time";
                }
                default -> {
                    // the cause behind it may say more
                }
            }
        }
        if (failure instanceof ConnectException) {
            return "cannot connect to the server";
        }
        String message = failure.getMessage();
        // The sentence around it has its own full stop.
        return message == null
                ? failure.getClass().getSimpleName()
                : message.strip().replaceAll("[.!?]+$", "");
    }
}
