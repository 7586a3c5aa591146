@echo off
rem Starts Gramian with the Java runtime beside it. GRAMIAN_JAVA_OPTS: options for the Java virtual machine, for example -Xmx8g
setlocal
set "GRAMIAN_COMMAND=gramian"
"%~dp0..\runtime\bin\java" --enable-native-access=ALL-UNNAMED %GRAMIAN_JAVA_OPTS% -cp "%~dp0..\lib\*" org.gramian.cli.Main %*
exit /b %ERRORLEVEL%
